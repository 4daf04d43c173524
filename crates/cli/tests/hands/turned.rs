//! Frames that are scaled, zoomed, turned or seen in perspective, and frames in closed shadow roots.
//!
//! Each button tells how far from its own middle it was hit: never more than two pixels.

use serde_json::json;

use crate::table::{Row, check};

/// A frame with a button that tells where it was hit.
macro_rules! frame {
    ($before:literal, $style:literal, $after:literal) => {
        concat!(
            $before,
            "<iframe style='",
            $style,
            "' srcdoc=\"<button id=b style='width:80px;height:30px;margin:20px' onclick='parent.note([Math.abs(event.offsetX-40)<3,Math.abs(event.offsetY-15)<3])'>Go</button>\"></iframe>",
            $after
        )
    };
}

pub const ROWS: &[Row] = &[
    (
        "a frame in a scaled box is measured as it is seen",
        "<body style='margin:0'><div style='transform:scale(.5);transform-origin:0 0'><iframe style='width:800px;height:400px;border:0' srcdoc=\"<body style='margin:0'><button id=b style='width:400px;height:100px' onclick=parent.note(1)>B</button>\"></iframe></div>",
        &["click #b", "get box #b => {\"x\":0.0,\"y\":0.0,\"width\":200.0,\"height\":50.0}"],
        "seen",
        || json!([1]),
    ),
    (
        "a zoomed frame is measured as it is seen",
        "<body style='margin:0'><iframe style='zoom:2;border:0' srcdoc=\"<body style='margin:0'><button id=b style='width:40px;height:30px' onclick=parent.note(1)>B</button>\"></iframe>",
        &["click #b", "get box #b => {\"x\":0.0,\"y\":0.0,\"width\":80.0,\"height\":60.0}"],
        "seen",
        || json!([1]),
    ),
    (
        "a frame that is zoomed and turned",
        frame!(
            "<div style='padding:80px'>",
            "zoom:1.5;transform:rotate(10deg);border:6px solid;padding:7px",
            "</div>"
        ),
        &["click #b"],
        "seen",
        || json!([[true, true]]),
    ),
    (
        "a frame in a box that is zoomed and turned",
        frame!(
            "<div style='padding:80px'><div style='zoom:1.5;transform:rotate(10deg);width:400px'>",
            "",
            "</div></div>"
        ),
        &["click #b"],
        "seen",
        || json!([[true, true]]),
    ),
    (
        "a turned frame in a zoomed box",
        frame!("<div style='padding:80px;zoom:1.3'>", "rotate:-20deg;scale:.8 1.2", "</div>"),
        &["click #b"],
        "seen",
        || json!([[true, true]]),
    ),
    (
        "a frame in perspective",
        frame!(
            "<div style='padding:80px;width:400px;perspective:500px'>",
            "transform:rotateY(40deg)",
            "</div>"
        ),
        &["click #b"],
        "seen",
        || json!([[true, true]]),
    ),
    (
        "a frame in a zoomed box in perspective",
        frame!(
            "<div style='padding:80px;width:400px;perspective:500px'><div style='zoom:1.3;transform:rotateY(35deg) rotateX(10deg)'><p>x</p>",
            "border:10px solid;padding:5px;rotate:x 5deg",
            "</div></div>"
        ),
        &["click #b"],
        "seen",
        || json!([[true, true]]),
    ),
    (
        "a frame deep in a space of its own",
        frame!(
            "<div style='padding:80px;width:400px;perspective:500px'><div style='transform:rotateY(40deg);transform-style:preserve-3d'>",
            "transform:translateZ(60px) rotateY(-20deg)",
            "</div></div>"
        ),
        &["click #b"],
        "seen",
        || json!([[true, true]]),
    ),
    (
        "a turned frame below in a list that is scrolled",
        frame!(
            "<div style='height:2000px'></div><div style='perspective:300px;width:400px;height:200px;overflow:auto'><div style='height:400px'></div>",
            "transform:rotateY(40deg)",
            "</div>"
        ),
        &["click #b"],
        "seen",
        || json!([[true, true]]),
    ),
    (
        "a turned frame in a turned frame",
        "<div style='padding:60px'><iframe width=500 height=300 style='transform:rotate(8deg);zoom:1.2' srcdoc=\"<iframe style='transform:rotate(-20deg);zoom:.9' srcdoc='<button id=b onclick=top.note(1)>Go</button>'></iframe>\"></iframe></div>",
        &["click #b"],
        "seen",
        || json!([1]),
    ),
    (
        "a frame in a closed shadow root is clicked at once",
        "<x-g></x-g><script>customElements.define('x-g',class extends HTMLElement{connectedCallback(){this.attachShadow({mode:'closed'}).innerHTML='<iframe srcdoc=\"<button id=cb onclick=parent.note(1)>CB</button>\"></iframe>'}})</script>",
        &["click #cb"],
        "seen",
        || json!([1]),
    ),
    (
        "a frame in closed shadow roots in each other is clicked at once",
        "<x-g></x-g><script>const wrap=(host,html)=>{const root=host.attachShadow({mode:'closed'});root.innerHTML=html;return root};const outer=wrap(document.querySelector('x-g'),'<p><span></span>');wrap(outer.querySelector('span'),'<iframe srcdoc=\"<button id=cb onclick=parent.note(1)>CB</button>\"></iframe>')</script>",
        &["click #cb", "hover #cb"],
        "seen",
        || json!([1]),
    ),
    (
        "a cover in the closed shadow root of a frame is named",
        "<x-g></x-g><script>document.querySelector('x-g').attachShadow({mode:'closed'}).innerHTML='<iframe srcdoc=\"<button id=cb onclick=parent.note(1)>CB</button>\"></iframe><div id=veil style=\"position:fixed;inset:0\"></div>'</script>",
        &["!covered(id=\"veil\") click #cb --timeout 600"],
        "seen",
        || json!([]),
    ),
];

#[test]
fn turned() {
    check("turned", ROWS);
}
