// The view of what changed between two catalogs.

const KINDS = { breaks: "breaks", changes: "changes", adds: "adds" };
const FEW = 6;

const factItem = (f) => {
  const list = f.items || [];
  const rest = list.slice(FEW);
  const more = rest.length ? el("button", { type: "button", class: "link", onclick: () => { more.replaceWith(...rest.map((x) => el("li", null, said(x)))); } }, `and ${rest.length} more`) : null;
  return el("li", { class: "fact " + f.kind }, tag(KINDS[f.kind], f.kind), el("div", null, el("span", { class: "what" }, said(f.title)),
    el("ul", { class: "plain" }, list.slice(0, FEW).map((x) => el("li", null, said(x))), more ? el("li", null, more) : null)));
};

const showDiff = (main) => {
  const d = data.diff;
  document.title = "Difference – olmkit";
  const list = el("div", { class: "diff" });
  const found = el("p", { role: "status", class: "why" });
  const only = el("input", { type: "checkbox", id: "only", onchange: () => show() });
  let reading = "classic";
  const radio = (value, text) => el("label", null, el("input", { type: "radio", name: "reading", value, checked: value === reading || null, onchange: () => { reading = value; show(); } }), " ", text);
  const removed = d.packagesRemoved || [];
  const show = () => {
    clear(list);
    let n = 0;
    for (const p of d.packages) {
      let all = [...(p[reading] || []), ...(p.facts || [])];
      if (only.checked) all = all.filter((f) => f.kind === "breaks");
      all = Object.keys(KINDS).flatMap((k) => all.filter((f) => f.kind === k));
      if (!all.length) continue;
      n++;
      const at = data.catalogs[0].byName.get(p.name);
      put(list, [el("section", null, el("h2", null, at ? el("a", { href: address("package", at.catalog.name, at.name) }, said(p.name)) : said(p.name)), el("ul", { class: "facts" }, all.map(factItem)))]);
    }
    found.textContent = [only.checked ? `${plural(n, "package")} ${n === 1 ? "breaks" : "break"} something` : `${plural(n, "package")} changed`,
      `${removed.length} removed`, only.checked ? "" : `${(d.packagesAdded || []).length} added`].filter(Boolean).join(", ");
  };
  const names = (title, kind, l) => (l && l.length ? el("ul", { class: "facts" }, factItem({ kind, title, items: l })) : null);
  const lost = (n, who) => el("li", null, el("b", null, n.toLocaleString("en")), ` ${n === 1 ? "version loses its" : "versions lose their"} path to the head in ${who}`);
  put(main, [el("header", { class: "title" }, el("h1", null, said(d.old), " → ", said(d.new)), el("ul", { class: "counts" }, lost(d.lostClassic, "classic OLM"), lost(d.lostV1, "OLM v1"))),
    el("div", { class: "choose wide" }, el("fieldset", null, el("legend", null, "Upgrades as read by"), radio("classic", "classic OLM"), radio("v1", "OLM v1")), el("label", null, only, " only what breaks")),
    found,
    names("packages removed", "breaks", removed), names("APIs no longer provided", "breaks", d.apisRemoved), names("packages added", "adds", d.packagesAdded), list]);
  show();
};
