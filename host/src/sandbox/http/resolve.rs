//! From a name to addresses that may be reached.
//!
//! Apart, because the client connects to what comes out of here and to nothing else: the address that was checked is the one
//! that is used.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::capability::{Host, is_metadata, special};
use crate::network::Lookup;
use crate::sandbox::http::error::{NoAddress, Refused};
use crate::sandbox::http::rules::is_this_machine;

/// The addresses that one client may reach.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// Those of the internet at large.
    Public,
    /// Any but those where a cloud tells keys, for this one name. Its client sends requests to one origin alone.
    Named(String),
    /// Any: the client connects to the user's proxy, whatever it asks.
    Proxy,
}

/// Looks up names by one rule.
#[derive(Clone, Debug)]
pub(super) struct Resolver {
    pub lookup: Lookup,
    pub rule: Rule,
}

impl Resolver {
    /// Returns the addresses of a name that may be reached.
    pub(super) async fn addresses(self, name: &str) -> Result<Vec<IpAddr>, Box<dyn std::error::Error + Send + Sync>> {
        if let Rule::Named(only) = &self.rule
            && only != name
        {
            return Err(NoAddress.into());
        }
        // Whatever a server says: these names are this machine (RFC 6761).
        let found = if is_this_machine(&Host::Name(name.to_owned())) {
            vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
        } else {
            self.look_up(name).await?
        };
        let why_not = |address: IpAddr| match &self.rule {
            Rule::Public => special(address),
            Rule::Named(_) => special(address).filter(|_| is_metadata(address)),
            Rule::Proxy => None,
        };
        let reached: Vec<IpAddr> = found.iter().copied().filter(|it| why_not(*it).is_none()).collect();
        match found.iter().find_map(|it| why_not(*it).map(|what| Refused { address: *it, what })) {
            Some(refused) if reached.is_empty() => Err(refused.into()),
            _ if reached.is_empty() => Err(NoAddress.into()),
            _ => Ok(reached),
        }
    }

    async fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        match &self.lookup {
            Lookup::By(function) => function(name),
            Lookup::System => Ok(tokio::net::lookup_host((name, 0)).await?.map(|it| it.ip()).collect()),
        }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = resolver.addresses(name.as_str()).await?;
            // Port 0 is replaced by that of the request.
            Ok(Box::new(addresses.into_iter().map(|it| SocketAddr::new(it, 0))) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    async fn resolve(rule: Rule, name: &str, found: &[&str]) -> Result<String, String> {
        let found: Vec<IpAddr> = found.iter().map(|it| it.parse().unwrap()).collect();
        let lookup = Lookup::By(Arc::new(move |_: &str| Ok(found.clone())));
        let addresses = Resolver { lookup, rule }.addresses(name).await.map_err(|it| it.to_string())?;
        Ok(addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    }

    #[tokio::test]
    async fn only_public_addresses_come_out() {
        let public = async |found: &[&str]| resolve(Rule::Public, "a.org", found).await;
        assert_eq!(public(&["8.8.8.8", "2606:4700::1"]).await.unwrap(), "8.8.8.8 2606:4700::1");
        assert_eq!(public(&["10.0.0.1", "8.8.8.8", "::1"]).await.unwrap(), "8.8.8.8");
        assert_eq!(public(&["127.0.0.1"]).await.unwrap_err(), "127.0.0.1 is a loopback address");
        assert_eq!(public(&["::ffff:10.0.0.1"]).await.unwrap_err(), "::ffff:10.0.0.1 is a private address");
        assert_eq!(public(&[]).await.unwrap_err(), "the name has no address");
    }

    #[tokio::test]
    async fn a_name_that_was_granted_leads_to_the_own_network_but_to_no_metadata() {
        let named = async |found: &[&str]| resolve(Rule::Named("db.corp".into()), "db.corp", found).await;
        assert_eq!(named(&["10.0.0.1", "127.0.0.1"]).await.unwrap(), "10.0.0.1 127.0.0.1");
        assert_eq!(named(&["169.254.169.254"]).await.unwrap_err(), "169.254.169.254 is a cloud metadata address");
        let other = resolve(Rule::Named("db.corp".into()), "other.corp", &["10.0.0.1"]).await;
        assert_eq!(other.unwrap_err(), "the name has no address");
    }

    #[tokio::test]
    async fn localhost_is_this_machine_whatever_a_server_says() {
        let rule = Rule::Named("a.localhost".into());
        assert_eq!(resolve(rule, "a.localhost", &["8.8.8.8"]).await.unwrap(), "127.0.0.1 ::1");
        let public = resolve(Rule::Public, "localhost", &["8.8.8.8"]).await;
        assert_eq!(public.unwrap_err(), "127.0.0.1 is a loopback address");
    }
}
