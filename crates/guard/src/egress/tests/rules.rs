use proptest::prelude::*;

use super::*;

fn rule(text: &str) -> Rule {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn rules_are_written_back_in_one_way() {
    let cases = [
        ("example.com", "example.com"),
        (" EXAMPLE.com. ", "example.com"),
        ("*.Example.com:443", "*.example.com:443"),
        (".example.com", ".example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("*.straße.example", "*.xn--strae-oqa.example"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("[::1]:8000", "[::1]:8000"),
        ("::1", "[::1]"),
        ("fe80::1", "[fe80::1]"),
        ("2001:db8:0:0:0:0:0:1", "[2001:db8::1]"),
        ("[::ffff:10.0.0.1]", "10.0.0.1"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("10.0.0.0/8:443", "10.0.0.0/8:443"),
        ("10.0.0.0/32", "10.0.0.0"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("fc00::/7", "fc00::/7"),
        ("fc00::/7:8000-8099", "fc00::/7:8000-8099"),
        ("[fc00::]/7:80-80", "fc00::/7:80"),
        ("*", "*"),
        ("*:443", "*:443"),
        ("localhost:1-65535", "localhost:1-65535"),
        ("under_score.example", "under_score.example"),
    ];
    for (text, written) in cases {
        assert_eq!(rule(text).to_string(), written, "{text}");
        assert_eq!(rule(written), rule(text), "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_rule_is_told() {
    let cases = [
        ("", "names no host"),
        (":80", "names no host"),
        ("http://example.com", "no scheme"),
        ("me@example.com", "no user name"),
        ("example.com/path", "no path"),
        ("ex*mple.com", "* stands alone"),
        ("*example.com", "* stands alone"),
        ("*.*.com", "* stands alone"),
        ("example.com:0", "a port of 1 to 65535"),
        ("example.com:65536", "a port of 1 to 65535"),
        ("example.com:", "a port of 1 to 65535"),
        ("example.com:+80", "a port of 1 to 65535"),
        ("example.com:90-80", "a port of 1 to 65535"),
        ("[::1]80", "a port of 1 to 65535"),
        ("fd00::5:8000", "write [fd00::5]:8000 or [fd00::5:8000]"),
        ("127.1", "write the address as 127.0.0.1"),
        ("0x7f000001", "write the address as 127.0.0.1"),
        ("192.168.1", "write the address as 192.168.0.1"),
        ("010.0.0.1", "write the address as 8.0.0.1"),
        ("*.127.0.0.1", "write the address as 127.0.0.1"),
        ("10.0.0.0/33", "0 to 32"),
        ("10.0.0.0/+8", "0 to 32"),
        ("10.0.0.0/", "0 to 32"),
        ("fc00::/129", "0 to 128"),
        ("10.1.2.3/8", "write 10.0.0.0/8"),
        ("[::1", "not an IPv6 address"),
        ("[fe80::1%eth0]", "not an IPv6 address"),
        ("1:2:3", "not an IPv6 address"),
        ("a b.example", "not a host"),
        ("a..example", "two dots in a row"),
        ("999.999.999.999", "not a host"),
        (".", "no host"),
        ("*.", "no host"),
    ];
    for (text, says) in cases {
        let error = text.parse::<Rule>().expect_err(text).to_string();
        assert!(error.contains(says), "{text}: {error}");
        assert!(error.contains(&format!("{text:?}")), "{text}: {error}");
    }
}

#[test]
fn a_suffix_ends_at_a_dot() {
    let cases = [
        ("example.com", "example.com", true),
        ("example.com", "www.example.com", false),
        ("*.example.com", "example.com", false),
        ("*.example.com", "www.example.com", true),
        ("*.example.com", "a.b.example.com", true),
        ("*.example.com", "badexample.com", false),
        (".example.com", "example.com", true),
        (".example.com", "www.example.com", true),
        (".example.com", "badexample.com", false),
        (".example.com", "example.com.evil.example", false),
    ];
    for (text, name, fits) in cases {
        assert_eq!(rule(text).takes_name(name, 80), fits, "{text} {name}");
    }
}

#[test]
fn policies_travel_as_text() {
    let policy = strict(&["127.0.0.1:8000", "*.example.com"], &["10.0.0.0/8"]);
    let text = serde_json::to_string(&policy).expect("JSON");
    assert_eq!(
        text,
        r#"{"allow":["127.0.0.1:8000","*.example.com"],"deny":["10.0.0.0/8"],"default":"deny"}"#
    );
    assert_eq!(serde_json::from_str::<EgressPolicy>(&text).expect("a policy"), policy);
    assert_eq!(serde_json::from_str::<EgressPolicy>("{}").expect("a policy"), EgressPolicy::default());
    let error = serde_json::from_str::<EgressPolicy>(r#"{"allow":["10.1.2.3/8"]}"#).expect_err("refused");
    assert!(error.to_string().contains("write 10.0.0.0/8"), "{error}");
    assert!(serde_json::from_str::<EgressPolicy>(r#"{"alow":[]}"#).is_err());
}

proptest! {
    #[test]
    fn any_text_is_a_rule_or_an_error(text in "\\PC{0,40}") {
        if let Ok(rule) = text.parse::<Rule>() {
            let written = rule.to_string();
            prop_assert_eq!(written.parse::<Rule>().expect("what was written is a rule"), rule);
        }
    }

    #[test]
    fn near_rules_are_written_back_too(text in "[*.\\[\\]:/0-9a-fx-]{1,24}") {
        if let Ok(rule) = text.parse::<Rule>() {
            prop_assert_eq!(rule.to_string().parse::<Rule>().expect("a rule"), rule);
        }
    }

    #[test]
    fn a_range_has_what_begins_with_its_bits(bits in any::<u32>(), other in any::<u32>(), prefix in 0u32..=32) {
        let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
        let first = std::net::Ipv4Addr::from_bits(bits & mask);
        let rule = rule(&format!("{first}/{prefix}"));
        let address = std::net::Ipv4Addr::from_bits(other);
        prop_assert_eq!(rule.takes_address(address.into(), 1), other & mask == bits & mask);
    }

    #[test]
    fn ports_are_within_their_range(from in 1u16.., to in 1u16.., port in any::<u16>()) {
        let (from, to) = (from.min(to), from.max(to));
        let rule = rule(&format!("*:{from}-{to}"));
        prop_assert_eq!(rule.takes_everything(port), from <= port && port <= to);
    }
}
