use proptest::prelude::*;

use super::*;

/// What a server makes of a segment. Panics on a stray `%`.
fn decoded(segment: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = segment.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(&behind[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a./\\\\%?#; ]{0,12}",
        "(\\.|\\.\\.|/|%2e|%2F|a){0,6}",
        "[\\x00-\\x20\\x7f-\\xff😊]{1,8}",
    ]
}

#[test]
fn a_plain_id_stands_in_the_path_as_it_is() {
    assert_eq!(
        path("/v1/subscriptions/{0}", "sub_1-2.3~4").unwrap(),
        "/v1/subscriptions/sub_1-2.3~4"
    );
    assert_eq!(
        path("/repositories/{0}/issues/{1}", "12/7").unwrap(),
        "/repositories/12/issues/7"
    );
    assert_eq!(path("/o/{0}.json?x={0}", "7").unwrap(), "/o/7.json?x=7");
}

#[test]
fn an_id_for_one_place_keeps_its_slash_encoded() {
    assert_eq!(path("/o/{0}", "a/b").unwrap(), "/o/a%2Fb");
}

#[test]
fn an_id_with_another_number_of_parts_is_refused() {
    for (id, found) in [("12", 1), ("1/2/3", 3)] {
        assert_eq!(
            path("/r/{0}/i/{1}", id),
            Err(PathError::Parts { found, wanted: 2 })
        );
    }
}

#[test]
fn an_empty_part_is_refused_because_it_would_lead_to_a_list() {
    assert_eq!(path("/r/{0}", ""), Err(PathError::Empty));
    assert_eq!(path("/r/{0}/i/{1}", "12/"), Err(PathError::Empty));
}

#[test]
fn a_step_upwards_is_refused_in_every_spelling_that_decodes_to_one() {
    for id in [".", "..", "../customers/cus_1", "a/..", "a\\..\\b", "./a"] {
        assert_eq!(path("/v1/subscriptions/{0}", id), Err(PathError::Dots));
    }
    assert_eq!(path("/r/{0}/i/{1}", "12/.."), Err(PathError::Dots));
    assert_eq!(path("/o/{0}", "a..b").unwrap(), "/o/a.%2Eb");
}

#[test]
fn a_template_that_is_not_sound_is_refused_with_the_reason() {
    for template in [
        "",
        "v1/{0}",
        "/v1",
        "/v1/{}",
        "/v1/{x}",
        "/v1/{0",
        "/v1/0}",
        "/v1/{1}",
        "/v1/{0}/{2}",
        "/v1/../{0}",
        "/v1/{0}#x",
        "/v 1/{0}",
        "/v1/%2F{0}",
        "/ü/{0}",
        "/v1/{00}",
    ] {
        let refused = path(template, "a");
        assert!(
            matches!(refused, Err(PathError::Template(_))),
            "{template}: {refused:?}"
        );
    }
}

#[test]
fn the_longest_id_of_the_worst_characters_is_still_a_path() {
    let path = path("/v1/subscriptions/{0}", &"\u{7f}".repeat(1024)).unwrap();
    assert!(path.parse::<http::uri::PathAndQuery>().is_ok());
}

proptest! {
    #[test]
    fn a_path_decodes_to_exactly_the_id_and_holds_nothing_that_leads_elsewhere(id in any_id()) {
        match path("/v1/things/{0}", &id) {
            Ok(path) => {
                let segment = path.strip_prefix("/v1/things/").unwrap();
                prop_assert!(segment.bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert!(!segment.contains(['/', '?', '#', '\\', ';']));
                prop_assert!(!segment.contains(".."));
                prop_assert_eq!(decoded(segment), id);
                let uri: http::Uri = format!("https://api.example.com{path}").parse().unwrap();
                prop_assert_eq!(uri.host(), Some("api.example.com"));
                prop_assert_eq!(uri.path(), path);
                prop_assert_eq!(uri.query(), None);
            }
            Err(PathError::Empty) => prop_assert!(id.is_empty()),
            Err(PathError::Dots) => prop_assert!(id.split(['/', '\\']).any(is_dots)),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn two_ids_never_share_a_path(a in any_id(), b in any_id()) {
        for template in ["/things/{0}", "/r/{0}/i/{1}"] {
            if let (Ok(one), Ok(two)) = (path(template, &a), path(template, &b)) {
                prop_assert_eq!(one == two, a == b);
            }
        }
    }

    #[test]
    fn no_decoded_segment_of_a_path_is_a_step(id in any_id()) {
        if let Ok(path) = path("/r/{0}/i/{1}", &id) {
            prop_assert!(!path.split('/').any(|segment| is_dots(&decoded(segment))));
        }
    }

    #[test]
    fn no_template_and_no_id_crash(template in any_id(), id in any_id()) {
        if let Ok(path) = path(&format!("/{template}{{0}}"), &id) {
            prop_assert!(path.starts_with('/'));
        }
    }
}
