use super::*;
use crate::headers::Headers;
use crate::request::Endpoint;

fn render(template: &str, url: &str, query: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers: Headers = headers.iter().copied().collect();
    let endpoint = Endpoint {
        url: Some(url.to_owned()),
        ..Endpoint::default()
    };
    let request = Request {
        method: "POST",
        query,
        headers: &headers,
        body: body.as_bytes(),
        endpoint: &endpoint,
    };
    let scope = Scope {
        timestamp: Some("17"),
        ..Scope::of(&request)
    };
    let template = Template::try_from(template.to_owned()).unwrap();
    template.string(&scope).unwrap()
}

const FORM: (&str, &str) = (
    "Content-Type",
    "application/x-www-form-urlencoded; charset=utf-8",
);

#[test]
fn values_stand_where_their_names_stood() {
    let headers = [("X-Id", "7")];
    let told = render("{timestamp}.{header:X-Id}:{body}!", "", "", &headers, "b");
    assert_eq!(told, "17.7:b!");
    let told = render(
        "{method}{url}{body:/a/b}",
        "https://x/y",
        "",
        &[],
        r#"{"a":{"b":1.10}}"#,
    );
    assert_eq!(told, "POSThttps://x/y1.10");
    assert_eq!(render("{target}", "https://x/y?z=1", "", &[], ""), "/y?z=1");
    assert_eq!(render("{target}", "https://x", "", &[], ""), "/");
}

#[test]
fn a_part_in_brackets_goes_when_its_value_is_missing_and_stays_when_it_is_there() {
    let manifest = "[id:{query:data.id|lower};][request-id:{header:x-request-id};]ts:{timestamp};";
    assert_eq!(render(manifest, "", "", &[], ""), "ts:17;");
    let full = render(
        manifest,
        "",
        "data.id=ORD1&x=2",
        &[("X-Request-Id", "r")],
        "",
    );
    assert_eq!(full, "id:ord1;request-id:r;ts:17;");
}

#[test]
fn a_form_is_sorted_and_says_each_pair_once() {
    let told = render("{form}", "", "", &[FORM], "b=2&a=1%2B&b=1&b=2");
    assert_eq!(told, "a1+b1b2");
    assert_eq!(render("{form}", "", "", &[], "{\"a\":1}"), "");
}

#[test]
fn a_url_is_tried_with_and_without_the_port_its_scheme_has() {
    for (url, with, without) in [
        ("https://x/p?q=1", "https://x:443/p?q=1", "https://x/p?q=1"),
        ("https://x:443/p", "https://x:443/p", "https://x/p"),
        ("http://x", "http://x:80", "http://x"),
        ("https://x:8443/p", "https://x:8443/p", "https://x:8443/p"),
    ] {
        assert_eq!(render("{url|port}", url, "", &[], ""), with);
        assert_eq!(render("{url|no-port}", url, "", &[], ""), without);
    }
}

#[test]
fn a_digest_that_the_sender_put_into_the_url_follows_what_is_registered() {
    let query = "bodySHA256=ab";
    assert_eq!(
        render("{url}", "https://x/p", query, &[], ""),
        "https://x/p?bodySHA256=ab"
    );
    let registered = "https://x/p?a=1";
    assert_eq!(
        render("{url}", registered, query, &[], ""),
        "https://x/p?a=1&bodySHA256=ab"
    );
}

#[test]
fn named_headers_are_listed_as_they_are_named() {
    let headers = [("X-Signed", "x-b, X-A"), ("x-a", "1"), ("X-B", "2")];
    assert_eq!(
        render("{named-headers:x-signed}", "", "", &headers, ""),
        "x-b:2;x-a:1"
    );
}

#[test]
fn a_template_that_cannot_be_read_says_why() {
    for (text, why) in [
        ("{body", "open brace"),
        ("[{body}", "open bracket"),
        ("{bdy}", "\"bdy\", which is not known"),
        ("{body|upper}", "\"upper\", which is not known"),
        ("{heder:x}", "expected \"header:<name>\""),
    ] {
        let told = Template::try_from(text.to_owned()).unwrap_err();
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn reserved_characters_are_decoded_where_the_sender_does() {
    let url = "https://x/a%2Fb%3Ac%20d";
    assert_eq!(
        render("{url|unreserved}", url, "", &[], ""),
        "https://x/a/b:c%20d"
    );
}
