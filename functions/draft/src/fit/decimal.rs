//! Numbers as they are written, and the value that two ways of writing share. Nothing is rounded.

/// A value: `digits` times ten to the power of `exponent`, without a zero at either end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// What groups digits by thousands and is never a decimal sign.
const GROUPING: [char; 5] = ['\'', '’', '\u{a0}', '\u{202f}', '\u{2009}'];

impl Decimal {
    /// A number of JSON, whole or not, with or without an exponent.
    pub(super) fn of_json(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            None => (false, text),
            Some(rest) => (true, rest),
        };
        let (number, exponent) = match text.split_once(['e', 'E']) {
            None => (text, 0),
            Some((number, exponent)) => (number, exponent.parse::<i64>().ok()?),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        Self::of(negative, whole, fraction, exponent)
    }

    /// A text that was given and is a number without an exponent; `007` is none.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
        let ended = text.ends_with(|c: char| c.is_ascii_digit());
        (ended && text.chars().all(plain)).then(|| Self::of_json(text))?
    }

    /// A whole number, with tenths for halves and the like.
    pub(super) fn counted(tenths: u64) -> Self {
        let digits = tenths.to_string();
        let value = Self::of(false, &digits, "", -1);
        value.unwrap_or_else(Self::zero)
    }

    /// As a person writes it: `1234`, `1,234.50`, `1.234,50`, `1 234`, `-5`.
    ///
    /// What can be read in two ways (`1,234`, `1.234`) is read as thousands: whoever means the other has to write it in
    /// a way that is not read as this. A leading zero makes an identifier of it.
    pub(super) fn written(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['-', '−', '–', '—']);
        let negative = unsigned.is_some();
        let text = unsigned.or(text.strip_prefix('+')).unwrap_or(text);
        let separator = |c: char| c == '.' || c == ',' || GROUPING.contains(&c);
        let groups: Vec<&str> = text.split(separator).collect();
        let digits = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
        if !groups.iter().all(digits) {
            return None;
        }
        let signs: Vec<char> = text.chars().filter(|c| separator(*c)).collect();
        let (last, before) = groups.split_last()?;
        let Some((sign, signs_before)) = signs.split_last() else {
            return Self::whole(negative, last);
        };
        let is_decimal_sign = !GROUPING.contains(sign);
        let grouped = is_grouped(&groups) && signs_before.iter().all(|other| other == sign);
        if grouped {
            return Self::of(negative, &groups.concat(), "", 0);
        }
        let one_sign = signs_before.windows(2).all(|two| two.first() == two.last());
        let apart = signs_before.first().is_none_or(|first| first != sign);
        let sound = before.len() == 1 || is_grouped(before);
        if !(is_decimal_sign && one_sign && apart && sound) {
            return None;
        }
        let whole = before.concat();
        Self::whole(negative, &whole)?;
        Self::of(negative, &whole, last, 0)
    }

    fn whole(negative: bool, digits: &str) -> Option<Self> {
        let padded = digits.len() > 1 && digits.starts_with('0');
        (!padded).then(|| Self::of(negative, digits, "", 0))?
    }

    fn of(negative: bool, whole: &str, fraction: &str, exponent: i64) -> Option<Self> {
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let kept = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - kept.len()).ok()?;
        let digits = kept.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self::zero());
        }
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        Some(Self {
            negative,
            digits: digits.to_owned(),
            exponent: exponent.checked_add(dropped)?,
        })
    }

    fn zero() -> Self {
        Self {
            negative: false,
            digits: String::new(),
            exponent: 0,
        }
    }
}

/// `1`, `234`, `567`: one to three digits without a leading zero, then three each.
fn is_grouped(groups: &[&str]) -> bool {
    let Some((first, rest)) = groups.split_first() else {
        return false;
    };
    !rest.is_empty()
        && first.len() <= 3
        && !first.starts_with('0')
        && rest.iter().all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_found_in_all_its_ways_of_writing() {
        for (json, ways) in [
            (
                "1234",
                &[
                    "1234",
                    "1,234",
                    "1.234",
                    "1'234",
                    "1’234",
                    "1\u{a0}234",
                    "1234.0",
                    "1.234,00",
                    "+1234",
                ][..],
            ),
            (
                "1234.5",
                &[
                    "1234.5",
                    "1234,50",
                    "1,234.50",
                    "1.234,5",
                    "1 234".replace(' ', "\u{202f}").as_str(),
                ][..4],
            ),
            ("19.90", &["19.9", "19,90", "19.900000"]),
            ("1e3", &["1000", "1,000"]),
            ("-5", &["-5", "−5", "-5.0"]),
            ("0.5", &["0.5", "0,50", "0.500"]),
            ("0", &["0", "-0", "0.00"]),
            (
                "12345678901234567890123.10",
                &["12,345,678,901,234,567,890,123.1"],
            ),
        ] {
            let value = Decimal::of_json(json);
            assert!(value.is_some(), "{json}");
            for way in ways {
                assert_eq!(Decimal::written(way), value, "{way}");
            }
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_not_read_as_decimals() {
        assert_ne!(Decimal::written("1.234"), Decimal::of_json("1.234"));
        assert_ne!(Decimal::written("5.000"), Decimal::of_json("5"));
    }

    #[test]
    fn what_is_no_plain_number_is_none() {
        for text in [
            "",
            "-",
            "007",
            "00",
            "1.2.3",
            "1,2,3",
            "1,234,5",
            "12,34.5.6",
            ".5",
            "5.",
            "1e3",
            "0x1",
            "1/2",
            "1:2",
            "--5",
            "01,234",
            "1,234'567",
            "1.234.567,8,9",
            "0,123,456",
        ] {
            assert_eq!(Decimal::written(text), None, "{text}");
        }
    }
}
