//! Many values of one figure, told as the least, the middle and the most.

use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Figures(Vec<f64>);

impl Figures {
    pub(crate) fn add(&mut self, value: f64) {
        let at = self.0.partition_point(|held| *held < value);
        self.0.insert(at, value);
    }

    pub(crate) fn least(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        let at = |index: usize| self.0.get(index).copied().unwrap_or(f64::NAN);
        if self.0.len().is_multiple_of(2) {
            f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
        } else {
            at(middle)
        }
    }

    pub(crate) fn most(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "min": self.least(),
            "median": self.median(),
            "max": self.most(),
            "count": self.0.len(),
        })
    }
}
