use super::*;

/// Whether a host with this address may be reached.
fn lets(policy: &EgressPolicy, name: &str, address: &str, port: u16) -> bool {
    policy.judge_address(&host(name), address.parse().expect("an address"), port).is_ok()
}

#[test]
fn without_rules_the_world_may_be_reached_and_nothing_else() {
    let policy = EgressPolicy::default();
    assert!(lets(&policy, "example.com", "8.8.8.8", 443));
    assert!(lets(&policy, "8.8.8.8", "8.8.8.8", 25));
    assert!(!lets(&policy, "example.com", "10.0.0.1", 443));
    assert!(!lets(&policy, "127.0.0.1", "127.0.0.1", 80));
}

#[test]
fn deny_wins_over_allow_and_allow_over_blocks() {
    let policy =
        policy(&["127.0.0.0/8", "good.example"], &["127.0.0.2", "*:25", "bad.good.example", "8.8.8.0/24"]);
    assert!(lets(&policy, "127.0.0.1", "127.0.0.1", 80));
    assert!(lets(&policy, "any.example", "127.0.0.1", 80), "an address rule judges addresses");
    assert!(!lets(&policy, "127.0.0.2", "127.0.0.2", 80));
    assert!(!lets(&policy, "good.example", "127.0.0.2", 80), "denied addresses stay denied under any name");
    assert!(!lets(&policy, "127.0.0.1", "127.0.0.1", 25));
    assert!(!lets(&policy, "good.example", "1.1.1.1", 25));
    assert!(!lets(&policy, "bad.good.example", "1.1.1.1", 80));
    assert!(!lets(&policy, "dns.example", "64:ff9b::808:808", 80), "denied through NAT64, too");
    assert!(policy.judge_name(&host("BAD.good.example."), 80).is_err());
    assert!(policy.judge_name(&host("good.example"), 25).is_err());
    assert!(policy.judge_name(&host("good.example"), 80).is_ok());
}

#[test]
fn a_named_host_may_be_private_but_not_where_keys_are_handed_out() {
    for policy in [policy(&["intern.example:80"], &[]), strict(&["intern.example:80"], &[])] {
        for address in
            ["10.0.0.1", "127.0.0.1", "::1", "fd00::1", "192.168.1.1", "::ffff:10.0.0.1", "8.8.8.8"]
        {
            assert!(lets(&policy, "intern.example", address, 80), "{address}");
            assert!(lets(&policy, "INTERN.example.", address, 80), "{address}");
        }
        assert!(!lets(&policy, "intern.example", "10.0.0.1", 81));
        assert!(!lets(&policy, "other.example", "10.0.0.1", 80));
        for address in [
            "169.254.169.254",
            "fe80::1",
            "fd00:ec2::254",
            "100.100.100.200",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "64:ff9b::a9fe:a9fe",
        ] {
            assert!(!lets(&policy, "intern.example", address, 80), "{address}");
        }
    }
    assert!(lets(&policy(&["169.254.169.254"], &[]), "169.254.169.254", "169.254.169.254", 80));
}

#[test]
fn with_deny_only_what_is_allowed_may_be_reached() {
    let policy = strict(&[".example.com", "9.9.9.0/24", "*:443"], &["evil.example.com"]);
    assert!(lets(&policy, "example.com", "8.8.8.8", 80));
    assert!(lets(&policy, "www.example.com", "8.8.8.8", 80));
    assert!(!lets(&policy, "evil.example.com", "8.8.8.8", 80));
    assert!(!lets(&policy, "example.org", "8.8.8.8", 80));
    assert!(lets(&policy, "example.org", "9.9.9.9", 80));
    assert!(lets(&policy, "example.org", "8.8.8.8", 443));
    assert!(!lets(&policy, "10.0.0.1", "10.0.0.1", 443), "* does not lift a block");
    let narrow = strict(&["example.com"], &[]);
    let denied =
        narrow.judge_name(&host("example.org"), 80).expect_err("not allowed, and need not be resolved");
    assert_eq!(denied.to_string(), "egress denied: example.org:80 is not among what is allowed");
    assert!(!lets(&strict(&[], &[]), "example.org", "8.8.8.8", 80));
}

#[test]
fn addresses_of_pages_are_checked() {
    let policy = policy(&["127.0.0.1:8000"], &["bad.example"]);
    let found = policy.check_url(" HTTP://me:pw@EXAMPLE.com:80/a b?c#d").expect("allowed");
    assert_eq!((found.host, found.port), (host("example.com"), 80));
    assert_eq!(policy.check_url("https://example.com").expect("allowed").port, 443);
    assert_eq!(policy.check_url("http://0x7f.1:8000/").expect("allowed").url, "http://127.0.0.1:8000/");
    let refused = [
        ("http://127.0.0.1/", "127.0.0.1:80 is a loopback address (127.0.0.0/8)"),
        ("http://0x7f.1/", "127.0.0.1:80 is a loopback address"),
        ("http://good.example@127.1/", "127.0.0.1:80 is a loopback address"),
        ("http:\\\\127.1\\", "127.0.0.1:80 is a loopback address"),
        ("http:/127.1/", "127.0.0.1:80 is a loopback address"),
        ("h\tttp://127.0\n.0.1/", "127.0.0.1:80 is a loopback address"),
        ("http://[::ffff:10.0.0.1]/", "10.0.0.1:80 is a private address (10.0.0.0/8)"),
        ("https://[::1]/", "[::1]:443 is a loopback address (::1/128)"),
        ("http://[64:ff9b::10.0.0.1]/", "[64:ff9b::a00:1]:80 is a private address (10.0.0.0/8)"),
        ("http://BAD.example./", "denied by the rule bad.example"),
        ("file:///etc/passwd", "file: is not a scheme"),
        ("data:text/html,x", "data: is not a scheme"),
        ("javascript:alert(1)", "javascript: is not a scheme"),
        ("view-source:http://example.com", "view-source: is not a scheme"),
        ("ftp://example.com/", "ftp: is not a scheme"),
        ("ws://example.com/", "ws: is not a scheme"),
        ("about:blank", "about: is not a scheme"),
        ("blob:http://example.com/1", "blob: is not a scheme"),
        ("", "not an absolute"),
        ("example.com", "not an absolute"),
        ("//example.com/", "not an absolute"),
        ("http://", "not an absolute"),
        ("http://./", "not an absolute"),
        ("http://[fe80::1%25eth0]/", "not an absolute"),
        ("http://example.com:0/", "not an absolute"),
        ("http://example.com:99999/", "not an absolute"),
    ];
    for (url, says) in refused {
        let denied = policy.check_url(url).expect_err(url).to_string();
        assert!(denied.starts_with("egress denied: ") && denied.contains(says), "{url}: {denied}");
    }
    assert!(policy.check_request("wss://example.com/socket").is_ok());
    assert!(policy.check_request("ws://127.0.0.1/socket").is_err());
}

#[test]
fn the_address_behind_a_name_is_not_told() {
    let policy = EgressPolicy::default();
    let address = "10.11.12.13".parse().expect("an address");
    let denied = policy.judge_address(&host("intern.example"), address, 80).expect_err("private");
    assert_eq!(denied.address, Some(address));
    assert_eq!(
        denied.to_string(),
        "egress denied: intern.example:80 resolves to a private address (10.0.0.0/8), and no rule allows it"
    );
}
