//! A number as it was written, and the exact order of numbers.
//!
//! Nothing here is floating point. Whole numbers that a machine word holds are kept in one, so that rules
//! can count; all others keep their text.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A JSON number.
#[derive(Clone)]
pub struct Number(pub(crate) Form);

#[derive(Clone)]
pub(crate) enum Form {
    Int(i64),
    Uint(u64),
    /// A JSON number that is neither: with a fraction, an exponent, many digits, or `-0`.
    Decimal(Arc<str>),
}

impl Number {
    /// Takes the text of a JSON number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_number(text).then(|| Self::of_json(text))
    }

    /// Takes a text that is known to be a JSON number.
    pub(crate) fn of_json(text: &str) -> Self {
        if let Ok(int) = text.parse::<i64>()
            && text != "-0"
        {
            return Self(Form::Int(int));
        }
        match text.parse::<u64>() {
            Ok(uint) => Self(Form::Uint(uint)),
            Err(_) => Self(Form::Decimal(text.into())),
        }
    }

    /// The order of the two values, exactly; `1.10` and `1.1` are equal. None when an exponent has so many
    /// digits that it cannot be counted with.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        if let (Some(one), Some(other)) = (self.whole(), other.whole()) {
            return Some(one.cmp(&other));
        }
        Some(Scaled::read(&self.to_string())?.compare(&Scaled::read(&other.to_string())?))
    }

    /// The value, where it is a whole number that a machine word holds.
    #[must_use]
    pub fn to_i128(&self) -> Option<i128> {
        self.whole().or_else(|| match &self.0 {
            Form::Decimal(text) => Scaled::read(text)?.whole(),
            Form::Int(_) | Form::Uint(_) => None,
        })
    }

    /// How many bytes have to be looked at to compare it.
    pub(crate) fn length(&self) -> usize {
        match &self.0 {
            Form::Int(_) | Form::Uint(_) => 1,
            // Taken apart for it, which costs more than its bytes.
            Form::Decimal(text) => text.len().saturating_add(64),
        }
    }

    /// Whether a machine word holds it, as it is written.
    pub(crate) fn is_word(&self) -> bool {
        self.whole().is_some()
    }

    fn whole(&self) -> Option<i128> {
        match &self.0 {
            Form::Int(int) => Some(i128::from(*int)),
            Form::Uint(uint) => Some(i128::from(*uint)),
            Form::Decimal(_) => None,
        }
    }
}

/// The digits as they were written.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Int(int) => int.fmt(f),
            Form::Uint(uint) => uint.fmt(f),
            Form::Decimal(text) => f.write_str(text),
        }
    }
}

fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (int, fraction) = match mantissa.split_once('.') {
        Some((int, fraction)) => (int, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(int)
        && (int == "0" || !int.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent
            .is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// A value as `0.digits` times ten to the power of `point`. Zero has no digits; others neither begin nor end
/// with a zero, which makes every value have one form.
struct Scaled {
    negative: bool,
    digits: String,
    point: i128,
}

impl Scaled {
    fn read(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (int, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{int}{fraction}");
        let leading = all.len() - all.trim_start_matches('0').len();
        let digits = all.trim_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self {
                negative: false,
                digits,
                point: 0,
            });
        }
        let places = i128::try_from(int.len()).ok()? - i128::try_from(leading).ok()?;
        Some(Self {
            negative,
            digits,
            point: exponent.parse::<i128>().ok()?.checked_add(places)?,
        })
    }

    fn compare(&self, other: &Self) -> Ordering {
        let sign = |value: &Self| match (value.digits.is_empty(), value.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = match (self.digits.is_empty(), other.digits.is_empty()) {
            (false, false) => (self.point, &self.digits).cmp(&(other.point, &other.digits)),
            (true, _) | (_, true) => Ordering::Equal,
        };
        let size = if self.negative { size.reverse() } else { size };
        sign(self).cmp(&sign(other)).then(size)
    }

    fn whole(&self) -> Option<i128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        // 10^37 is within an i128.
        let point = usize::try_from(self.point)
            .ok()
            .filter(|point| *point <= 37)?;
        if self.digits.len() > point {
            return None;
        }
        let size: i128 = format!("{:0<point$}", self.digits).parse().ok()?;
        Some(if self.negative { -size } else { size })
    }
}
