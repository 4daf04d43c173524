//! Nothing is left when a proxy, or somebody at its ends, has gone.

use surehand_guard::egress::{EgressPolicy, Proxy};
use tokio::net::TcpStream;

use crate::world::*;

/// A server that takes a request and gives no answer, and is told of the end.
async fn patient() -> Origin {
    Origin::start(|mut line| async move {
        line.request().await;
        line.ended().await;
        // A second entry says that the end was seen.
        line.mark("ended");
    })
    .await
}

async fn busy(proxy: &Proxy, origin: &Origin) -> (Line, Line) {
    let mut asking = Line::to(proxy.address()).await;
    asking.send(format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", origin.address)).await;
    let mut tunnel = connect(proxy, &origin.address.to_string()).await.expect("a tunnel");
    tunnel.send("GET / HTTP/1.1\r\n\r\n").await;
    until("both requests arrive", || origin.heard().len() == 2).await;
    (asking, tunnel)
}

fn ended(origin: &Origin) -> usize {
    origin.heard().iter().filter(|one| *one == "ended").count()
}

#[tokio::test]
async fn closing_ends_the_listener_and_all_that_goes_through() {
    for close in [true, false] {
        let origin = patient().await;
        let proxy = proxy(&["127.0.0.1"]).await;
        let address = proxy.address();
        let (mut asking, mut tunnel) = busy(&proxy, &origin).await;
        if close {
            soon("the end", proxy.close()).await;
            assert!(TcpStream::connect(address).await.is_err(), "nobody listens");
        } else {
            drop(proxy);
        }
        asking.ended().await;
        tunnel.ended().await;
        until("the server sees both ends", || ended(&origin) == 2).await;
    }
}

#[tokio::test]
async fn a_client_that_goes_takes_its_connections_along() {
    let origin = patient().await;
    let proxy = proxy(&["127.0.0.1"]).await;
    drop(busy(&proxy, &origin).await);
    until("the server sees both ends", || ended(&origin) == 2).await;
}

/// In a runtime of its own, whose tasks can be counted.
#[test]
fn no_task_and_no_descriptor_is_left() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let origin = Origin::saying(OK).await;
        until("the server runs", || tasks() == 1).await;
        for round in 0..20 {
            let proxy = proxy(&["127.0.0.1"]).await;
            let mut kept = Line::to(proxy.address()).await;
            kept.send(format!("GET http://{}/ HTTP/1.1\r\nHost: x\r\n\r\n", origin.address)).await;
            assert_eq!(kept.reply().await.unwrap().status, 200);
            let tunnel = connect(&proxy, &origin.address.to_string()).await.expect("a tunnel");
            assert!(connect(&proxy, "10.0.0.1:1").await.is_err());
            let port = proxy.address().port();
            if round % 2 == 0 {
                proxy.close().await;
            } else {
                drop(proxy);
            }
            // Both ends are open here still, so what would be left is the proxy's.
            until("all tasks but the server's end", || tasks() == 1).await;
            // Another test may be given the port meanwhile; it does not keep it.
            until("no descriptor is left on the port", || sockets_of(port) == 0).await;
            drop((kept, tunnel));
        }
    });
}

/// Sockets that are bound to a port and not to another: those of a proxy, not of its clients.
#[expect(clippy::disallowed_methods, reason = "a file that is always there")]
fn sockets_of(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap_or_default();
    let own = format!(":{port:04X}");
    let open = |line: &&str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        // An inode of 0 is a socket that no process has any more.
        fields.len() > 9 && fields[1].ends_with(&own) && fields[9] != "0"
    };
    table.lines().filter(open).count()
}

/// A proxy needs a policy and a resolver, nothing else, and can be told to others.
#[tokio::test]
async fn a_proxy_says_where_it_is_and_what_it_holds_to() {
    let proxy = Proxy::start(EgressPolicy::default(), Script::of(&[])).await.unwrap();
    assert!(proxy.address().ip().is_loopback());
    assert_eq!(proxy.policy(), &EgressPolicy::default());
    assert!(format!("{proxy:?}").contains(&proxy.address().to_string()));
    assert_eq!(proxy.bytes().sent + proxy.bytes().received, 0);
}
