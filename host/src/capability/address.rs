//! Which addresses are not simply somewhere in the internet: this machine, its network, and those kept for other uses.
//! Separate because a name is judged by where it leads, in every spelling that an address has.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range, its length in bits, and what it is.
type Row<A> = (A, u32, &'static str);

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u32, what: &'static str) -> Row<Ipv4Addr> {
    (Ipv4Addr::new(a, b, c, d), bits, what)
}

const fn v6(a: u16, b: u16, c: u16, bits: u32, what: &'static str) -> Row<Ipv6Addr> {
    (Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits, what)
}

/// Where clouds tell a machine its own keys. Some of it lies in the ranges below, some in the middle of the internet.
const METADATA: [IpAddr; 5] = [
    // Most clouds.
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    // Alibaba.
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    // Azure.
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    // Amazon.
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    // Google.
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// The IANA IPv4 Special-Purpose Address Registry, with multicast (RFC 5771) and the reserved rest (RFC 1112).
/// The first that holds an address names it.
const V4: [Row<Ipv4Addr>; 19] = [
    v4(0, 0, 0, 0, 8, "this network"),
    v4(10, 0, 0, 0, 8, "private"),
    v4(100, 64, 0, 0, 10, "carrier NAT"),
    v4(127, 0, 0, 0, 8, "loopback"),
    v4(169, 254, 0, 0, 16, "link-local"),
    v4(172, 16, 0, 0, 12, "private"),
    v4(192, 0, 0, 0, 24, "protocol assignments"),
    v4(192, 0, 2, 0, 24, "documentation"),
    v4(192, 31, 196, 0, 24, "AS112"),
    v4(192, 52, 193, 0, 24, "multicast tunnels"),
    v4(192, 88, 99, 0, 24, "6to4 relays"),
    v4(192, 168, 0, 0, 16, "private"),
    v4(192, 175, 48, 0, 24, "AS112"),
    v4(198, 18, 0, 0, 15, "benchmarks"),
    v4(198, 51, 100, 0, 24, "documentation"),
    v4(203, 0, 113, 0, 24, "documentation"),
    v4(224, 0, 0, 0, 4, "multicast"),
    v4(255, 255, 255, 255, 32, "broadcast"),
    v4(240, 0, 0, 0, 4, "reserved"),
];

/// The IANA IPv6 Special-Purpose Address Registry, with site-local (RFC 3879) and multicast (RFC 4291). What is in none of
/// these and outside of `2000::/3` is no global unicast address either.
const V6: [Row<Ipv6Addr>; 13] = [
    v6(0x64, 0xff9b, 1, 48, "local NAT64"),
    v6(0x100, 0, 0, 64, "discarded"),
    v6(0x2001, 0, 0, 32, "Teredo"),
    v6(0x2001, 2, 0, 48, "benchmarks"),
    v6(0x2001, 0, 0, 23, "protocol assignments"),
    v6(0x2001, 0xdb8, 0, 32, "documentation"),
    v6(0x2002, 0, 0, 16, "6to4"),
    v6(0x2620, 0x4f, 0x8000, 48, "AS112"),
    v6(0x3fff, 0, 0, 20, "documentation"),
    v6(0xfc00, 0, 0, 7, "private"),
    v6(0xfe80, 0, 0, 10, "link-local"),
    v6(0xfec0, 0, 0, 10, "site-local"),
    v6(0xff00, 0, 0, 8, "multicast"),
];

/// Returns what kind of special address this is; none for one of the internet at large.
///
/// IPv4 inside IPv6 is judged as what it leads to.
pub fn special(address: IpAddr) -> Option<&'static str> {
    if is_metadata(address) {
        return Some("cloud metadata");
    }
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

/// Whether a cloud tells a machine its own keys there.
pub fn is_metadata(address: IpAddr) -> bool {
    let is_known = |address: IpAddr| METADATA.contains(&address);
    match address {
        IpAddr::V4(_) => is_known(address),
        IpAddr::V6(v6) => is_known(address) || embedded(v6).into_iter().flatten().any(|it| is_known(it.into())),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let holds = |range: Ipv4Addr, bits: u32| (address.to_bits() ^ range.to_bits()).leading_zeros() >= bits;
    V4.iter().find(|(range, bits, _)| holds(*range, *bits)).map(|it| it.2)
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    match address {
        Ipv6Addr::LOCALHOST => return Some("loopback"),
        Ipv6Addr::UNSPECIFIED => return Some("this network"),
        _ => {}
    }
    if let Some(what) = embedded(address).into_iter().flatten().find_map(special_v4) {
        return Some(what);
    }
    // What leads to the internet all the same: a socket takes the first for IPv4, and networks without IPv4 use the second.
    if matches!(address.segments(), [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..]) {
        return None;
    }
    let holds = |range: Ipv6Addr, bits: u32| (address.to_bits() ^ range.to_bits()).leading_zeros() >= bits;
    let known = V6.iter().find(|(range, bits, _)| holds(*range, *bits)).map(|it| it.2);
    known.or((address.segments()[0] & 0xe000 != 0x2000).then_some("reserved"))
}

/// The IPv4 addresses that an IPv6 address leads to, for each way in which one is written into the other.
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let pair = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // Compatible, mapped (RFC 4291) and translated (RFC 2765).
        [0, 0, 0, 0, 0, 0 | 0xffff, a, b] | [0, 0, 0, 0, 0xffff, 0, a, b] => [Some(pair(a, b)), None],
        // NAT64 (RFC 6052, RFC 8215). A local prefix may hold the address elsewhere, and is refused as a whole.
        [0x64, 0xff9b, 0, 0, 0, 0, a, b] | [0x64, 0xff9b, 1, _, _, _, a, b] => [Some(pair(a, b)), None],
        // 6to4 (RFC 3056).
        [0x2002, a, b, ..] => [Some(pair(a, b)), None],
        // Teredo (RFC 4380): the server, and the client with all bits turned.
        [0x2001, 0, a, b, _, _, c, d] => [Some(pair(a, b)), Some(pair(!c, !d))],
        // ISATAP (RFC 5214), below any prefix.
        [_, _, _, _, 0 | 0x200, 0x5efe, a, b] => [Some(pair(a, b)), None],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(special(text.parse().unwrap()), expected, "{text}");
    }

    /// Every row of <https://www.iana.org/assignments/iana-ipv4-special-registry> and of the registry of multicast, with the
    /// first and the last address and those just outside.
    #[test]
    fn every_range_of_ipv4_ends_where_its_registry_says() {
        for (first, last, what) in [
            ("0.0.0.0", "0.255.255.255", "this network"),
            ("10.0.0.0", "10.255.255.255", "private"),
            ("100.64.0.0", "100.127.255.255", "carrier NAT"),
            ("127.0.0.0", "127.255.255.255", "loopback"),
            ("169.254.0.0", "169.254.255.255", "link-local"),
            ("172.16.0.0", "172.31.255.255", "private"),
            ("192.0.0.0", "192.0.0.255", "protocol assignments"),
            ("192.0.2.0", "192.0.2.255", "documentation"),
            ("192.31.196.0", "192.31.196.255", "AS112"),
            ("192.52.193.0", "192.52.193.255", "multicast tunnels"),
            ("192.88.99.0", "192.88.99.255", "6to4 relays"),
            ("192.168.0.0", "192.168.255.255", "private"),
            ("192.175.48.0", "192.175.48.255", "AS112"),
            ("198.18.0.0", "198.19.255.255", "benchmarks"),
            ("198.51.100.0", "198.51.100.255", "documentation"),
            ("203.0.113.0", "203.0.113.255", "documentation"),
            ("224.0.0.0", "239.255.255.255", "multicast"),
            ("240.0.0.0", "255.255.255.254", "reserved"),
            ("255.255.255.255", "255.255.255.255", "broadcast"),
        ] {
            check(first, Some(what));
            check(last, Some(what));
            let bits = |text: &str| text.parse::<Ipv4Addr>().unwrap().to_bits();
            for outside in [bits(first).wrapping_sub(1), bits(last).wrapping_add(1)] {
                assert_ne!(special(Ipv4Addr::from_bits(outside).into()), Some(what), "beside {first}");
            }
        }
        for public in
            ["1.1.1.1", "8.8.8.8", "93.184.215.14", "172.32.0.1", "100.128.0.1", "198.20.0.1", "223.255.255.255"]
        {
            check(public, None);
        }
    }

    /// Every row of <https://www.iana.org/assignments/iana-ipv6-special-registry>.
    #[test]
    fn every_range_of_ipv6_is_known() {
        for (text, what) in [
            ("::", "this network"),
            ("::1", "loopback"),
            ("64:ff9b:1::808:808", "local NAT64"),
            ("100::1", "discarded"),
            ("100:0:0:1::1", "reserved"),
            ("2001:2::1", "benchmarks"),
            ("2001:1::1", "protocol assignments"),
            ("2001:20::1", "protocol assignments"),
            ("2001:1ff::1", "protocol assignments"),
            ("2001:db8::1", "documentation"),
            ("2620:4f:8000::1", "AS112"),
            ("3fff::1", "documentation"),
            ("3fff:fff:ffff::1", "documentation"),
            ("5f00::1", "reserved"),
            ("fc00::1", "private"),
            ("fdff::1", "private"),
            ("fe80::1", "link-local"),
            ("febf::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
            ("4000::1", "reserved"),
            ("1::1", "reserved"),
        ] {
            check(text, Some(what));
        }
        for public in ["2606:4700::1111", "2001:4860:4860::8888", "2a00::1", "2003::1", "3ffe::1", "2001:200::1"] {
            check(public, None);
        }
    }

    #[test]
    fn ipv4_inside_ipv6_is_judged_in_each_spelling() {
        for (spelling, public) in [
            ("::ffff:", true),
            ("::", false),
            ("::ffff:0:", false),
            ("64:ff9b::", true),
            ("64:ff9b:1::", false),
            ("2a00::5efe:", true),
            ("2a00::200:5efe:", true),
        ] {
            check(&format!("{spelling}127.0.0.1"), Some("loopback"));
            check(&format!("{spelling}10.1.2.3"), Some("private"));
            check(&format!("{spelling}169.254.169.254"), Some("cloud metadata"));
            let address = format!("{spelling}8.8.8.8").parse().unwrap();
            assert_eq!(special(address).is_none(), public, "{address}");
        }
        check("::ffff:7f00:1", Some("loopback"));
        check("2002:7f00:1::", Some("loopback"));
        check("2002:a9fe:a9fe::1", Some("cloud metadata"));
        check("2002:808:808::1", Some("6to4"));
        check("2001:0:808:808:0:0:80ff:fffe", Some("loopback"));
        check("2001:0:a00:1::", Some("private"));
        check("2001:0:808:808::f7f7:f7f7", Some("Teredo"));
    }

    #[test]
    fn metadata_services_are_known_wherever_they_are() {
        for text in ["169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"] {
            check(text, Some("cloud metadata"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

        #[test]
        fn a_mapped_address_is_judged_as_the_one_inside(bits: u32) {
            let v4 = Ipv4Addr::from_bits(bits);
            prop_assert_eq!(special(v4.into()), special(v4.to_ipv6_mapped().into()));
            prop_assert!(special(v4.to_ipv6_compatible().into()).is_some());
        }

        #[test]
        fn only_global_unicast_is_public(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            if special(address.into()).is_none() {
                let is_nat64 = address.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
                prop_assert!(address.segments()[0] & 0xe000 == 0x2000 || is_nat64 || address.to_ipv4_mapped().is_some());
            }
        }
    }
}
