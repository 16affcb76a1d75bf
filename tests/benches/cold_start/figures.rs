//! Many values of one figure, told as the least, the middle and the most, and compared turn by turn.

use serde_json::{Value, json};

/// Values in the order in which they were found.
#[derive(Default)]
pub(crate) struct Figures(Vec<f64>);

impl Figures {
    pub(crate) fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(crate) fn least(&self) -> f64 {
        self.sorted().first().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn median(&self) -> f64 {
        let sorted = self.sorted();
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        let middle = sorted.len() / 2;
        if sorted.len().is_multiple_of(2) {
            f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
        } else {
            at(middle)
        }
    }

    pub(crate) fn most(&self) -> f64 {
        self.sorted().last().copied().unwrap_or(f64::NAN)
    }

    /// The median of the ratios to the other's value of the same turn, raised by `more`: what slows the whole
    /// machine for a while slows both.
    pub(crate) fn ratio(&self, other: &Self, more: f64) -> f64 {
        let turns = self.0.iter().zip(&other.0);
        Self(turns.map(|(own, other)| own / (other + more)).collect()).median()
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "min": self.least(),
            "median": self.median(),
            "max": self.most(),
            "count": self.0.len(),
        })
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}
