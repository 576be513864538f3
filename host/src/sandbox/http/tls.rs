//! Which certificates are trusted: those that the machine trusts, and those of the user's file.
//!
//! Apart, because reading them takes longer than many a request: it is done once in a process, and not before it is needed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// TLS sessions that one client may resume.
const SESSIONS: usize = 64;

/// Why there is no TLS. `Display` is one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TlsError {
    #[error("cannot read the certificates in `{0}`: {1}")]
    File(String, String),
    #[error("cannot use the certificates of this machine: {0}")]
    Machine(String),
}

/// The settings for one client, with sessions that no other client resumes. Blocks when they are first made.
pub(super) fn settings(ca_file: Option<&Path>) -> Result<ClientConfig, TlsError> {
    static MADE: Mutex<Option<HashMap<Option<PathBuf>, ClientConfig>>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_default();
    let key = ca_file.map(Path::to_owned);
    let shared = match made.get(&key) {
        Some(shared) => shared,
        None => {
            let new = verified(ca_file)?;
            made.entry(key).or_insert(new)
        }
    };
    let mut own = shared.clone();
    own.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    own.resumption = Resumption::in_memory_sessions(SESSIONS);
    Ok(own)
}

/// The settings of a client that only speaks in clear: it trusts nobody.
pub(super) fn none() -> Result<ClientConfig, TlsError> {
    Ok(builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn verified(ca_file: Option<&Path>) -> Result<ClientConfig, TlsError> {
    let extra = ca_file.map(certificates).transpose()?.unwrap_or_default();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier::new_with_extra_roots(extra, provider).map_err(|it| TlsError::Machine(it.to_string()))?;
    Ok(builder()?.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

fn builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    builder.map_err(|it| TlsError::Machine(it.to_string()))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |why: String| TlsError::File(crate::text::visible_line(&file.to_string_lossy()).into_owned(), why);
    let read = CertificateDer::pem_file_iter(file).map_err(|it| failed(it.to_string()))?;
    let certificates = read.collect::<Result<Vec<_>, _>>().map_err(|it| failed(it.to_string()))?;
    if certificates.is_empty() { Err(failed("it holds none".into())) } else { Ok(certificates) }
}
