//! Editors, fields that a framework controls, comboboxes, and text of every script.

use serde_json::json;

use crate::table::{Row, check};

pub const ROWS: &[Row] = &[
    (
        "a field that is drawn anew with every change",
        "<div id=r></div><script>let v='';function draw(){r.innerHTML='<input id=a>';a.value=v;a.oninput=()=>{v=a.value;draw();a.focus()}}draw()</script>",
        &["fill #a abc", "get value #a => {\"value\":\"abc\"}"],
        "v",
        || json!("abc"),
    ),
    (
        "a plain editor",
        "<div id=a contenteditable oninput=note(event.inputType)></div>",
        &["fill #a Hello"],
        "[a.textContent, seen]",
        || json!(["Hello", ["insertText"]]),
    ),
    (
        "an editor with text before",
        "<div id=a contenteditable>old <b>bold</b> text</div>",
        &["fill #a new"],
        "a.textContent",
        || json!("new"),
    ),
    (
        "an editor is typed into at its end",
        "<div id=a contenteditable>old</div>",
        &["type #a ' more'"],
        "a.textContent.replace(/\\s/g,' ')",
        || json!("old more"),
    ),
    (
        "an editor is cleared",
        "<div id=a contenteditable oninput=note(1)><p>one</p><p>two</p></div>",
        &["clear #a"],
        "[a.textContent, seen.length > 0]",
        || json!(["", true]),
    ),
    (
        "a part of an editor is filled alone",
        "<div contenteditable><p id=a>first</p><p id=b>second</p></div>",
        &["fill #b changed"],
        "[a.textContent, b.textContent]",
        || json!(["first", "changed"]),
    ),
    (
        "an editor inside of a part that is not one",
        "<div contenteditable><div contenteditable=false>label <span id=a contenteditable>x</span></div></div>",
        &["fill #a inner"],
        "a.textContent",
        || json!("inner"),
    ),
    (
        "a part of an editor that is not editable",
        "<div contenteditable><b id=a contenteditable=false>fixed</b></div>",
        &["!wrong-element fill #a x"],
        "a.textContent",
        || json!("fixed"),
    ),
    (
        "a plain text editor",
        "<div id=a contenteditable=plaintext-only style='white-space:pre-wrap'></div>",
        &["fill #a 'one\ntwo'"],
        "a.innerText.trim()",
        || json!("one\ntwo"),
    ),
    (
        "lines in an editor",
        "<div id=a contenteditable></div>",
        &["fill #a 'one\ntwo'"],
        "a.innerText.trim().split(/\\n+/)",
        || json!(["one", "two"]),
    ),
    (
        "a page in design mode",
        "<script>document.designMode='on'</script><body>old",
        &["fill body new"],
        "document.body.innerText.trim()",
        || json!("new"),
    ),
    (
        "an editor in a shadow root",
        "<div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML='<div id=a contenteditable>old</div>'</script>",
        &["fill #a new"],
        "h.shadowRoot.querySelector('#a').textContent",
        || json!("new"),
    ),
    (
        "an editor that keeps a model of its own",
        "<div id=a contenteditable></div><script>let model='old';const draw=()=>a.textContent=model;draw();\
         a.onbeforeinput=e=>{e.preventDefault();const all=getSelection().toString()===model;\
         if(e.inputType==='insertText'){model=all?e.data:model+e.data}else if(all){model=''}note(e.inputType);draw()}</script>",
        &["fill #a new"],
        "[model, seen]",
        || json!(["new", ["insertText"]]),
    ),
    (
        "an editor with a model is cleared",
        "<div id=a contenteditable></div><script>let model='old';const draw=()=>a.textContent=model;draw();\
         a.onbeforeinput=e=>{e.preventDefault();if(getSelection().toString()===model)model='';note(e.inputType);draw()}</script>",
        &["clear #a"],
        "[model, seen]",
        || json!(["", ["deleteContentForward"]]),
    ),
    (
        "an editor that refuses all input",
        "<div id=a contenteditable onbeforeinput='event.preventDefault()'>old</div>",
        &["?value-differs(\"old\") fill #a new"],
        "a.textContent",
        || json!("old"),
    ),
    (
        "an editor that draws itself anew on input",
        "<div id=a contenteditable></div><script>a.oninput=()=>{const t=a.innerText;note(t);a.innerHTML=t.split(' ').map(w=>`<span>${w}</span>`).join(' ')}</script>",
        &["fill #a 'two words'"],
        "[a.querySelectorAll('span').length, a.textContent]",
        || json!([2, "two words"]),
    ),
    (
        "a controlled field with a value tracker",
        "<input id=a value=old><script>\
         const native=Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value');let known=a.value,state='old';\
         Object.defineProperty(a,'value',{get(){return native.get.call(a)},set(v){known=''+v;native.set.call(a,v)}});\
         a.oninput=()=>{const now=native.get.call(a);if(now===known)return;known=now;state=now;note(state);a.value=state}</script>",
        &["fill #a new"],
        "[state, seen, a.value]",
        || json!(["new", ["new"], "new"]),
    ),
    (
        "a controlled range with a value tracker",
        "<input id=a type=range><script>\
         const native=Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value');let known=a.value;\
         Object.defineProperty(a,'value',{get(){return native.get.call(a)},set(v){known=''+v;native.set.call(a,v)}});\
         a.oninput=()=>{const now=native.get.call(a);if(now!==known)note(known=now)}</script>",
        &["fill #a 70"],
        "seen",
        || json!(["70"]),
    ),
    (
        "a controlled list with a value tracker",
        "<select id=a><option>p<option>q</select><script>let state='p';a.onchange=e=>{state=e.target.value;a.value=state}</script>",
        &["select #a q"],
        "[state, a.value]",
        || json!(["q", "q"]),
    ),
    (
        "a controlled field that sets itself back",
        "<input id=a value=fixed><script>a.oninput=()=>{note(a.value);a.value='fixed'}</script>",
        &["?value-differs(\"fixed\") fill #a new"],
        "seen",
        || json!(["new"]),
    ),
    (
        "a controlled field that sees every key",
        "<input id=a><script>let state='';a.oninput=()=>{state=a.value;a.value=state;note(state)}</script>",
        &["type #a abc"],
        "seen",
        || json!(["a", "ab", "abc"]),
    ),
    (
        "a combobox is opened and an option clicked",
        "<input id=c role=combobox aria-expanded=false aria-controls=l aria-label=Fruit><ul id=l role=listbox hidden></ul><script>\
         const all=['Apple','Banana','Cherry'];const draw=f=>{l.innerHTML='';for(const x of all.filter(x=>x.toLowerCase().includes(f))){const o=document.createElement('li');o.role='option';o.textContent=x;o.onmousedown=e=>e.preventDefault();o.onclick=()=>{c.value=x;l.hidden=true;note(x)};l.append(o)}};\
         c.onclick=()=>{l.hidden=false;c.ariaExpanded='true';draw('')};c.oninput=()=>{l.hidden=false;draw(c.value.toLowerCase())};c.onblur=()=>l.hidden=true</script>",
        &["click #c", "find role option click --name Banana"],
        "[c.value, seen, l.hidden]",
        || json!(["Banana", ["Banana"], true]),
    ),
    (
        "a combobox is typed into and its only option clicked",
        "<input id=c role=combobox aria-controls=l><ul id=l role=listbox></ul><script>\
         let due=0;const draw=()=>{due--;l.innerHTML=['Apple','Banana'].filter(x=>x.toLowerCase().startsWith(c.value)).map(x=>`<li role=option onclick='note(this.textContent)'>${x}</li>`).join('')};c.oninput=()=>{due++;setTimeout(draw,80)}</script>",
        &[
            "type #c ch",
            "clear #c",
            "type #c ba",
            "wait 'role=option[name=Banana]'",
            // The list is drawn once for each key, and must not be in the middle of the click.
            "wait --fn due===0",
            "click role=option",
        ],
        "seen",
        || json!(["Banana"]),
    ),
    (
        "a combobox is chosen from with keys",
        "<input id=c role=combobox><script>let at=-1;const all=['p','q','r'];c.onkeydown=e=>{if(e.key==='ArrowDown')at++;if(e.key==='Enter'){c.value=all[at];note(all[at])}if(e.key==='Escape')c.value=''}</script>",
        &["focus #c", "press ArrowDown", "press ArrowDown", "press Enter"],
        "seen",
        || json!(["q"]),
    ),
    (
        "a list made of buttons is chosen from",
        "<button id=b aria-haspopup=listbox aria-expanded=false>Pick</button><script>b.onclick=()=>document.body.insertAdjacentHTML('beforeend','<div role=listbox style=position:absolute><div role=option onclick=note(1)>One</div><div role=option onclick=note(2)>Two</div></div>')</script>",
        &["click #b", "click text=Two"],
        "seen",
        || json!([2]),
    ),
    (
        "a custom list is no list to select from",
        "<div id=a role=listbox><div role=option onclick=note(1)>One</div></div>",
        &["!wrong-element select #a One"],
        "seen",
        || json!([]),
    ),
    ("an emoji of several parts", "<input id=a>", &["fill #a 👩‍👩‍👧‍👦"], "[...a.value].length", || json!(7)),
    ("an emoji is typed whole", "<input id=a oninput=note(event.data)>", &["type #a 😀"], "seen", || {
        json!(["😀"])
    }),
    (
        "combining marks stay apart",
        "<input id=a>",
        &["fill #a 'e\u{301}'"],
        "[a.value.length, a.value.normalize('NFC')]",
        || json!([2, "é"]),
    ),
    ("chinese is typed", "<textarea id=a></textarea>", &["type #a '你好，世界'"], "a.value", || {
        json!("你好，世界")
    }),
    (
        "text from right to left",
        "<input id=a dir=rtl>",
        &["fill #a 'שלום עולם'", "type #a '!'"],
        "a.value",
        || json!("שלום עולם!"),
    ),
    ("characters of dead keys", "<input id=a>", &["type #a 'ñàüß€'"], "a.value", || json!("ñàüß€")),
    (
        "a newline is typed as enter",
        "<textarea id=a onkeydown='note(event.key)'></textarea>",
        &["type #a 'a\nb'"],
        "[a.value, seen]",
        || json!(["a\nb", ["a", "Enter", "b"]]),
    ),
    (
        "quotes and markup are only text",
        "<div id=a contenteditable></div>",
        &["fill #a '<b>\"x\"</b> & ${y}'"],
        "[a.children.length, a.textContent]",
        || json!([0, "<b>\"x\"</b> & ${y}"]),
    ),
];

#[test]
fn editors() {
    check("editors", ROWS);
}
