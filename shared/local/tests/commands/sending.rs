//! `send`: signs, posts, and says what came back.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use serde_json::Value;

use crate::bench::{Desk, SECRET};

const ORDER: &str = r#"{"id":"e1","type":"order.changed","order":{"id":"o1","version":1}}"#;

/// A stack in the desk's own directory, ended when the test is.
struct Stack {
    child: Child,
    line: Value,
}

impl Stack {
    fn start(desk: &Desk) -> Self {
        let mut child = desk
            .command(&["dev", "--json", "--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        Self {
            child,
            line: serde_json::from_str(&line).unwrap(),
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_file_is_posted_to_the_stack_that_runs_here_with_the_secret_that_it_made_up() {
    let desk = Desk::new();
    desk.put("order.json", ORDER);
    let stack = Stack::start(&desk);
    let said = desk.run(&["send", "erp", "order.json"]);
    assert_eq!((said.err.as_str(), said.code), ("", Some(0)));
    assert_eq!(said.out, "200 OK\n{\"received\":\"new\"}\n");
    let url = stack.line["webhooks"]["erp"].as_str().unwrap();
    let said = desk.run(&["send", "erp", "order.json", "--to", url, "--json"]);
    assert_eq!(said.code, Some(0));
    let told = said.json();
    assert_eq!((&told["status"], &told["url"]), (&200.into(), &url.into()));
    assert_eq!(told["body"], "{\"received\":\"duplicate\"}");
    let said = desk.run(&["send", "erp", "order.json", "--secret", SECRET]);
    assert_eq!(said.code, Some(1));
    assert!(said.out.starts_with("401 Unauthorized\n"), "{}", said.out);
    assert!(said.out.contains("signature-mismatch"), "{}", said.out);
}

#[test]
fn what_could_not_be_sent_exits_with_2() {
    let desk = Desk::new();
    desk.put("order.json", ORDER);
    let send = ["send", "erp", "order.json", "--secret", SECRET, "--to"];
    for (url, why) in [
        ("http://127.0.0.1:1/webhooks/erp", "cannot be reached"),
        ("not a url", "not a url: "),
    ] {
        let mut arguments = send.to_vec();
        arguments.push(url);
        let said = desk.run(&arguments);
        assert_eq!((said.out.as_str(), said.code), ("", Some(2)), "{url}");
        assert!(said.err.contains(why), "{url}: {}", said.err);
    }
}
