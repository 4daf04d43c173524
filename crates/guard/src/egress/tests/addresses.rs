use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::super::special::special;
use super::*;

#[test]
fn hosts_are_read_as_browsers_read_them() {
    let loopback = [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7F.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::FFFF:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
    ];
    for text in loopback {
        assert_eq!(host(text), Host::Address(Ipv4Addr::LOCALHOST.into()), "{text}");
    }
    assert_eq!(host("[0:0::1]"), Host::Address(Ipv6Addr::LOCALHOST.into()));
    assert_eq!(host("ExAmple.COM."), Host::Name("example.com".to_owned()));
    assert_eq!(host("Bücher.example"), Host::Name("xn--bcher-kva.example".to_owned()));
    assert_eq!(host("[::1]").to_string(), "[::1]");
}

#[test]
fn what_no_browser_opens_is_no_host() {
    let long = "a".repeat(64);
    for text in [
        "",
        ".",
        "a..b",
        "[fe80::1%eth0]",
        "[fe80::1%25eth0]",
        "[::1",
        "::1",
        "a b",
        "a@b",
        "a/b",
        "a:1",
        "1.2.3.4.5",
        "256.1.1.1",
        "0x1ffffffff",
        "%00",
        "a\\b",
        &long,
    ] {
        assert!(Host::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn the_ranges_that_are_not_out_in_the_world() {
    let blocked = [
        "0.0.0.0 0.255.255.255",
        "10.0.0.0 10.255.255.255",
        "100.64.0.0 100.127.255.255",
        "127.0.0.0 127.255.255.255",
        "169.254.0.0 169.254.169.254 169.254.255.255",
        "172.16.0.0 172.31.255.255",
        "192.0.0.0 192.0.0.255",
        "192.0.2.0 192.0.2.255",
        "192.88.99.0 192.88.99.255",
        "192.168.0.0 192.168.255.255",
        "198.18.0.0 198.19.255.255",
        "198.51.100.0 198.51.100.255",
        "203.0.113.0 203.0.113.255",
        "224.0.0.0 239.255.255.255",
        "240.0.0.0 255.255.255.254 255.255.255.255",
        "168.63.129.16",
        ":: ::1 ::2 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1",
        "64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        "100:: 100::ffff:ffff:ffff:ffff",
        "2001:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff 2001:1ff:ffff::1",
        "2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 3fff::1",
        "2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::",
        "fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fd00:ec2::254",
        "fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "fec0:: feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "ff00:: ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "4000:: 5f00::1 8000:: e000::1 1fff::1",
    ];
    for text in blocked.iter().flat_map(|line| line.split(' ')) {
        assert!(special(text.parse().expect("an address")).is_some(), "{text} is let out");
    }
    let open = "1.0.0.0 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
                169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 \
                198.17.255.255 198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255 2000::1 2001:200:: 2001:4860:4860::8888 \
                2606:4700::1111 2003:: 2002:808:808::1 64:ff9b::8.8.8.8 ::ffff:8.8.8.8 3ffe::1";
    for text in open.split_whitespace() {
        assert!(special(text.parse().expect("an address")).is_none(), "{text} is blocked");
    }
}

proptest! {
    #[test]
    fn an_address_is_judged_the_same_in_every_form(bits in any::<u32>(), rest in any::<[u16; 5]>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        let (high, low) = ((bits >> 16) as u16, bits as u16);
        let [a, b, c, d, e] = rest;
        let forms = [
            IpAddr::V6(v4.to_ipv6_mapped()),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low).into(),
            Ipv6Addr::new(0x2002, high, low, a, b, c, d, e).into(),
        ];
        let policy = policy(&["10.0.0.0/9"], &["8.0.0.0/7"]);
        let plain = policy.judge_address(&Host::Address(v4.into()), v4.into(), 80).is_ok();
        for form in forms {
            prop_assert_eq!(special(form), special(v4.into()), "{}", form);
            prop_assert_eq!(policy.judge_address(&Host::Address(form), form, 80).is_ok(), plain, "{}", form);
        }
        for text in [format!("{bits}"), format!("{bits:#x}"), format!("[::ffff:{v4}]"), format!("0{bits:o}")] {
            prop_assert_eq!(host(&text), Host::Address(v4.into()));
        }
    }

    #[test]
    fn what_the_standard_library_calls_special_is_blocked(bits in any::<u32>(), wide in any::<u128>()) {
        let v4 = Ipv4Addr::from_bits(bits);
        if v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast() || v4.is_broadcast()
            || v4.is_documentation() || v4.is_unspecified() {
            prop_assert!(special(v4.into()).is_some());
        }
        let v6 = Ipv6Addr::from_bits(wide);
        if v6.segments()[0] & 0xe000 != 0x2000 && v6.to_ipv4_mapped().is_none() {
            prop_assert!(special(v6.into()).is_some());
        }
    }

    #[test]
    fn any_text_is_a_host_or_an_error(text in "\\PC{0,60}") {
        if let Ok(found) = Host::parse(&text) {
            prop_assert_eq!(host(&found.to_string()), found);
        }
    }
}
