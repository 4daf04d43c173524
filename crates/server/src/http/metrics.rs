//! Numbers for Prometheus, in its text format.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 9] = [0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0];

/// Those that there are (RFC 9110).
const METHODS: [&str; 8] = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT", "TRACE"];

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    requests: Mutex<BTreeMap<(String, String, u16), Requests>>,
    packs: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    pub actions: AtomicU64,
    pub blocked: AtomicU64,
    pub audit_failures: AtomicU64,
}

#[derive(Debug, Default)]
struct Requests {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

/// What is true at this moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gauges {
    pub working: usize,
    pub waiting: usize,
    pub sessions: usize,
    pub connections: usize,
}

impl Metrics {
    /// One request is over.
    pub fn request(&self, route: &str, method: &str, status: u16, took: Duration) {
        // Anybody may make up methods, and each would stay.
        let method = if METHODS.contains(&method) { method } else { "other" };
        let mut all = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let of = all.entry((route.to_owned(), method.to_owned(), status)).or_default();
        let seconds = took.as_secs_f64();
        for (count, bound) in of.buckets.iter_mut().zip(BUCKETS) {
            *count += u64::from(seconds <= bound);
        }
        of.count += 1;
        of.seconds += seconds;
    }

    /// One pack is over, with this code.
    pub fn pack(&self, name: &'static str, code: &'static str) {
        *self.packs.lock().unwrap_or_else(PoisonError::into_inner).entry((name, code)).or_default() += 1;
    }

    /// Everything.
    pub fn text(&self, gauges: Gauges) -> String {
        let mut out = String::new();
        head(&mut out, "surehand_http_request_duration_seconds", "histogram", "Requests by route and status");
        for ((route, method, status), of) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            let labels = format!("route=\"{}\",method=\"{method}\",status=\"{status}\"", label(route));
            let name = "surehand_http_request_duration_seconds";
            for (count, bound) in of.buckets.iter().zip(BUCKETS) {
                line(&mut out, &format!("{name}_bucket{{{labels},le=\"{bound}\"}}"), *count);
            }
            line(&mut out, &format!("{name}_bucket{{{labels},le=\"+Inf\"}}"), of.count);
            line(&mut out, &format!("{name}_sum{{{labels}}}"), of.seconds);
            line(&mut out, &format!("{name}_count{{{labels}}}"), of.count);
        }
        head(&mut out, "surehand_packs_total", "counter", "Packs by name and outcome");
        for ((name, code), count) in &*self.packs.lock().unwrap_or_else(PoisonError::into_inner) {
            line(&mut out, &format!("surehand_packs_total{{pack=\"{name}\",code=\"{code}\"}}"), *count);
        }
        for (name, about, counter) in [
            ("surehand_actions_total", "Actions of packs", &self.actions),
            ("surehand_egress_blocked_total", "Requests that the egress guard refused", &self.blocked),
            ("surehand_audit_failures_total", "Rows that could not be written", &self.audit_failures),
        ] {
            head(&mut out, name, "counter", about);
            line(&mut out, name, counter.load(Ordering::Relaxed));
        }
        for (name, about, value) in [
            ("surehand_sessions_working", "Calls and kept sessions that hold a place", gauges.working),
            ("surehand_requests_waiting", "Requests that wait for a place", gauges.waiting),
            ("surehand_sessions_open", "Browser sessions that are open", gauges.sessions),
            ("surehand_connections_open", "Connections of callers", gauges.connections),
        ] {
            head(&mut out, name, "gauge", about);
            line(&mut out, name, value);
        }
        out
    }
}

fn head(out: &mut String, name: &str, sort: &str, about: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} {sort}");
}

fn line(out: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "{name} {value}");
}

fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up() {
        let metrics = Metrics::default();
        metrics.request("/api/v1/packs/{name}", "POST", 200, Duration::from_millis(30));
        metrics.request("/api/v1/packs/{name}", "POST", 200, Duration::from_secs(3));
        metrics.pack("web.scrape", "ok");
        metrics.request("none", "AAA1", 405, Duration::ZERO);
        metrics.request("none", "AAA2", 405, Duration::ZERO);
        let text = metrics.text(Gauges { working: 1, waiting: 2, sessions: 3, connections: 4 });
        let labels = "route=\"/api/v1/packs/{name}\",method=\"POST\",status=\"200\"";
        for wanted in [
            format!("_bucket{{{labels},le=\"0.01\"}} 0"),
            format!("_bucket{{{labels},le=\"0.05\"}} 1"),
            format!("_bucket{{{labels},le=\"5\"}} 2"),
            format!("_bucket{{{labels},le=\"+Inf\"}} 2"),
            format!("_count{{{labels}}} 2"),
            "_count{route=\"none\",method=\"other\",status=\"405\"} 2".to_owned(),
            "surehand_packs_total{pack=\"web.scrape\",code=\"ok\"} 1".to_owned(),
            "surehand_requests_waiting 2".to_owned(),
        ] {
            assert!(text.contains(&wanted), "{wanted}\n{text}");
        }
    }
}
