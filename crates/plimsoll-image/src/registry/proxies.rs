//! Proxies, as the environment names them: one for each scheme, and whom to ask without one.

use std::net::{IpAddr, SocketAddr};

use ureq::{Proxy, ProxyProtocol, http::Uri};

/// What the environment says of proxies.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// `HTTPS_PROXY`: the way to what speaks HTTPS.
    pub https: Option<String>,
    /// `HTTP_PROXY`: the way to what speaks plain HTTP.
    pub http: Option<String>,
    /// `NO_PROXY`: whom to ask without one, with commas between them.
    pub none: String,
}

impl Proxies {
    /// The proxy on the way to an address, or why the one that is named cannot be it.
    pub(super) fn to(&self, url: &str) -> Result<Option<Proxy>, String> {
        let Ok(url) = url.parse::<Uri>() else { return Ok(None) };
        let is_plain = url.scheme_str() == Some("http");
        let (variable, proxy) = if is_plain { ("HTTP_PROXY", &self.http) } else { ("HTTPS_PROXY", &self.https) };
        let Some((proxy, host)) = proxy.as_ref().zip(url.host()) else { return Ok(None) };
        if self.leaves_out(host, url.port_u16().unwrap_or(if is_plain { 80 } else { 443 })) {
            return Ok(None);
        }
        match Proxy::new(proxy) {
            Ok(proxy) if matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https) => Ok(Some(proxy)),
            Ok(_) => Err(format!(
                "{variable} names a SOCKS proxy, which is not supported: name one that speaks HTTP, or {host} in NO_PROXY"
            )),
            Err(_) => Err(format!("{variable} is no proxy: write it as http://HOST:PORT")),
        }
    }

    /// Whether a host is asked without a proxy: one of this machine, or one that is named.
    fn leaves_out(&self, host: &str, port: u16) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let address: Option<IpAddr> = host.parse().ok();
        if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
            return true;
        }
        let mut entries = self.none.split(|character: char| character == ',' || character.is_whitespace());
        entries.any(|entry| match address {
            _ if entry == "*" => true,
            Some(address) => {
                entry.parse::<SocketAddr>().is_ok_and(|entry| entry == SocketAddr::new(address, port))
                    || is_in(address, entry).unwrap_or(false)
            }
            None => {
                let with_port = entry.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse::<u16>().ok()?)));
                let (name, wanted) = with_port.unwrap_or((entry, port));
                let name = name.trim_start_matches('*').trim_start_matches('.').to_ascii_lowercase();
                let rest = host.strip_suffix(&name).filter(|_| !name.is_empty() && wanted == port);
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
        })
    }
}

/// Whether an address is another one, or in a network as 10.0.0.0/8; `None` where that is no address.
fn is_in(address: IpAddr, entry: &str) -> Option<bool> {
    let (network, length) = entry.split_once('/').map_or((entry, None), |(network, length)| (network, Some(length)));
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32_u32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let ((address, width), (network, of_network)) = (bits(address), bits(network.parse().ok()?));
    let beyond = width.checked_sub(length.map_or(Some(width), |length| length.parse().ok())?)?;
    Some(width == of_network && (address ^ network).checked_shr(beyond).unwrap_or(0) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_named_is_asked_without_a_proxy() {
        let none = "Example.org, .internal, *.wild.example,10.0.0.0/8, 192.0.2.7 ,fd00::/8,ported.example:5000,dotless";
        let proxies =
            Proxies { https: Some("http://user:secret@proxy:3128".to_owned()), http: None, none: none.to_owned() };
        for (host, is_direct) in [
            ("example.org", true),
            ("registry.EXAMPLE.org:5000", true),
            ("notexample.org", false),
            ("a.internal", true),
            ("a.wild.example", true),
            ("registry.dotless", true),
            ("10.20.30.40:5000", true),
            ("11.0.0.1", false),
            ("192.0.2.7", true),
            ("192.0.2.8", false),
            ("[fd12::1]:5000", true),
            ("[fe80::1]", false),
            ("ported.example:5000", true),
            ("ported.example", false),
            ("localhost:5000", true),
            ("127.0.0.1", true),
        ] {
            let proxy = proxies.to(&format!("https://{host}/v2/")).unwrap();
            assert_eq!(proxy.is_none(), is_direct, "{host}");
        }
        let all = Proxies { none: "*".to_owned(), ..proxies };
        assert!(all.to("https://example.com/").unwrap().is_none());
    }

    #[test]
    fn each_scheme_has_its_own_proxy_and_one_that_cannot_be_used_is_refused() {
        let (https, http) = (Some("https.proxy:1".to_owned()), Some("http://http.proxy:2".to_owned()));
        let proxies = Proxies { https, http, none: String::new() };
        let host = |url: &str| proxies.to(url).unwrap().map(|proxy| (proxy.host().to_owned(), proxy.port()));
        assert_eq!(host("https://r.example/"), Some(("https.proxy".to_owned(), 1)));
        assert_eq!(host("http://r.example/"), Some(("http.proxy".to_owned(), 2)));
        let refused = |proxy: &str| {
            Proxies { https: Some(proxy.to_owned()), ..Proxies::default() }.to("https://r.example/").unwrap_err()
        };
        assert!(refused("socks5://proxy:1080").contains("HTTPS_PROXY names a SOCKS proxy"));
        assert!(refused("http://").contains("HTTPS_PROXY is no proxy"));
    }
}
