//! The browser's command line: our defaults, what the options ask for, and the user's own arguments, merged.
//!
//! Values only; nothing here starts anything.

use std::path::{Path, PathBuf};

use super::{LaunchOptions, Sandbox, group};
use crate::find::Product;

/// For every browser: no first-run pages, no talk with the vendor, no throttling of what is out of sight, nothing of
/// the user's desktop (keyrings) touched.
const ALWAYS: &[&str] = &[
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-component-update",
    // What still phones home with all that off goes to a port where nobody listens.
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--gaia-url=http://127.0.0.1:9/",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-field-trial-config",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--metrics-recording-only",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-back-forward-cache",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-prompt-on-repost",
    "--disable-popup-blocking",
    "--disable-search-engine-choice-screen",
    // Input that comes before the first frame of a page is kept, not thrown away.
    "--allow-pre-commit-input",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-color-profile=srgb",
    // Chromium's own roles and names for scripts; the snapshot reads them.
    "--enable-blink-features=ComputedAccessibilityInfo",
];

/// Features that talk to servers, put things over the page, or load before anybody needs them; and one that holds a page's
/// tasks back after input until a frame is painted: what a click sets going (a form's submission, say) would begin, and
/// every action end, up to 16 ms later.
const DISABLED_FEATURES: &str = "AutofillServerCommunication,CertificateTransparencyComponentUpdater,\
    DeferRendererTasksAfterInput,DestroyProfileOnBrowserClose,DialMediaRouteProvider,GlobalMediaControls,HttpsUpgrades,InterestFeedContentSuggestions,\
    LensOverlay,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,Translate";

/// Arguments whose values are lists: a second one would replace the first, so they are merged instead.
const LISTS: [&str; 4] =
    ["--disable-features", "--enable-features", "--enable-blink-features", "--disable-blink-features"];

/// Below this much shared memory (containers have 64 MiB) renderers crash on big pages; then files are used instead.
pub(crate) const ENOUGH_SHARED_MEMORY: u64 = 512 << 20;

/// Takes a `--user-data-dir` among the user's arguments for what it means: a profile of their own.
pub(super) fn adopt_profile(options: &mut LaunchOptions) {
    let mut named = None;
    options.args.retain(|arg| match arg.strip_prefix("--user-data-dir=") {
        Some(dir) => {
            named = Some(PathBuf::from(dir));
            false
        }
        None => true,
    });
    options.profile = options.profile.take().or(named);
}

/// What would pass by a proxy: UDP, and names that are looked up ahead of need.
const GUARDED: [&str; 4] = [
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // As older ones call it.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
];

/// Whether the user's own arguments already switch the sandbox off.
pub(super) fn sandbox_is_off(options: &LaunchOptions) -> bool {
    options.args.iter().any(|arg| arg == "--no-sandbox")
}

/// All arguments, without those of the transport.
pub(super) fn build(options: &LaunchOptions, profile: &Path) -> Vec<String> {
    let mut ours: Vec<String> = ALWAYS.iter().map(ToString::to_string).collect();
    ours.push(format!("--disable-features={DISABLED_FEATURES}"));
    ours.extend(mode(options));
    // Tabs are opened over the protocol; a window of the browser's own would only be in the way, and costs 110 ms.
    ours.push("--no-startup-window".into());
    if options.sandbox == Sandbox::Off && !sandbox_is_off(options) {
        ours.push("--no-sandbox".into());
    }
    if group::shared_memory().is_some_and(|bytes| bytes < ENOUGH_SHARED_MEMORY) {
        ours.push("--disable-dev-shm-usage".into());
    }
    if options.ignore_https_errors {
        ours.push("--ignore-certificate-errors".into());
    }
    if let Some(proxy) = &options.proxy {
        ours.push(format!("--proxy-server={}", without_credentials(proxy)));
        // Everything goes through it, loopback too, which Chromium would leave out by itself.
        ours.push("--proxy-bypass-list=<-loopback>".into());
    }
    if options.guarded {
        ours.extend(GUARDED.map(str::to_owned));
    }
    ours.extend(options.user_agent.as_deref().map(|agent| format!("--user-agent={agent}")));
    let mut all = merge(ours, &options.args);
    all.push(format!("--user-data-dir={}", profile.display()));
    all
}

fn mode(options: &LaunchOptions) -> Vec<String> {
    if options.headed {
        return Vec::new();
    }
    // The headless shell knows one headless mode only.
    let shell = Product::of(&options.executable) == Product::HeadlessShell;
    let headless = if shell { "--headless" } else { "--headless=new" };
    [headless, "--hide-scrollbars", "--mute-audio"].map(String::from).into()
}

/// Ours, then the user's; list arguments become one each, and what the user enables is not disabled by us.
fn merge(ours: Vec<String>, users: &[String]) -> Vec<String> {
    let enabled = values(users, "--enable-features").collect::<Vec<_>>();
    let is_list = |arg: &&String| LISTS.iter().any(|list| list_value(arg, list).is_some());
    let mut all: Vec<String> = ours.iter().filter(|arg| !is_list(arg)).cloned().collect();
    for list in LISTS {
        let keep = |feature: &&str| list != "--disable-features" || !enabled.contains(feature);
        let mut items: Vec<&str> = values(&ours, list).filter(keep).collect();
        for item in values(users, list) {
            if !items.contains(&item) {
                items.push(item);
            }
        }
        if !items.is_empty() {
            all.push(format!("{list}={}", items.join(",")));
        }
    }
    all.extend(users.iter().filter(|arg| !is_list(arg)).cloned());
    all
}

fn values<'a>(args: &'a [String], list: &'a str) -> impl Iterator<Item = &'a str> {
    args.iter()
        .filter_map(move |arg| list_value(arg, list))
        .flat_map(|value| value.split(','))
        .filter(|v| !v.is_empty())
}

fn list_value<'a>(arg: &'a str, list: &str) -> Option<&'a str> {
    arg.strip_prefix(list)?.strip_prefix('=')
}

fn without_credentials(proxy: &str) -> String {
    let (scheme, rest) = proxy.split_once("://").map_or(("", proxy), |(scheme, rest)| (scheme, rest));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if scheme.is_empty() { host.into() } else { format!("{scheme}://{host}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str]) -> LaunchOptions {
        let mut options = LaunchOptions::new("/opt/chrome", "/tmp/scratch");
        options.args = args.iter().map(ToString::to_string).collect();
        options
    }

    fn with(args: &[&str]) -> Vec<String> {
        build(&options(args), Path::new("/p"))
    }

    #[test]
    fn feature_lists_are_merged_into_one_argument_each() {
        let args =
            with(&["--disable-features=Mine,Translate", "--enable-features=A", "--enable-features=B", "--x"]);
        let disabled: Vec<_> = args.iter().filter(|arg| arg.starts_with("--disable-features=")).collect();
        assert_eq!(disabled.len(), 1);
        assert!(disabled[0].ends_with(",Translate,Mine"), "{disabled:?}");
        assert!(args.contains(&"--enable-features=A,B".into()));
        assert!(args.contains(&"--x".into()));
    }

    #[test]
    fn what_the_user_enables_is_not_disabled_by_us() {
        let args = with(&["--enable-features=Translate"]);
        let disabled = args.iter().find(|arg| arg.starts_with("--disable-features=")).unwrap();
        assert!(!disabled.contains("Translate"), "{disabled}");
    }

    #[test]
    fn blink_features_of_ours_survive_the_users() {
        let args = with(&["--enable-blink-features=Other"]);
        assert!(args.contains(&"--enable-blink-features=ComputedAccessibilityInfo,Other".into()));
    }

    #[test]
    fn a_user_data_dir_among_the_arguments_is_the_users_profile() {
        let mut options = options(&["--user-data-dir=/home/me/p", "--y"]);
        adopt_profile(&mut options);
        assert_eq!(options.profile, Some("/home/me/p".into()));
        assert_eq!(options.args, ["--y"]);
    }

    #[test]
    fn headless_flags_follow_the_program_and_the_wish() {
        assert!(with(&[]).contains(&"--headless=new".into()));
        let mut shell = options(&[]);
        shell.executable = "/c/chrome-headless-shell".into();
        assert!(build(&shell, Path::new("/p")).contains(&"--headless".into()));
        let headed = LaunchOptions { headed: true, ..options(&[]) };
        assert!(!build(&headed, Path::new("/p")).iter().any(|arg| arg.starts_with("--headless")));
    }

    #[test]
    fn credentials_of_a_proxy_stay_off_the_command_line() {
        assert_eq!(without_credentials("http://me:p@ss@proxy:3128"), "http://proxy:3128");
        assert_eq!(without_credentials("socks5://proxy:1080"), "socks5://proxy:1080");
        assert_eq!(without_credentials("proxy:3128"), "proxy:3128");
    }
}
