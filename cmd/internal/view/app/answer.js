// The view of a resolution: a graph of reasons, or the derivation of a conflict.

// packageOf returns the package of a box, wherever a catalog of the page has it.
const packageOf = (n) => findPackage(n.catalog, n.package) || (n.catalog ? null : data.catalogs.map((c) => c.byName.get(n.package)).find(Boolean)) || null;

// linked makes links of the names of bundles in a sentence.
const bundles = new Map(); // by name, the first package with a bundle of the name
for (const c of data.catalogs) for (const p of c.packages) for (const n of p.nodes) if (!bundles.has(n.name)) bundles.set(n.name, p);
const linked = (text) => said(text.split(/([\s,;:()]+)/).map((word) => {
  const name = bundles.has(word) ? word : word.replace(/\.$/, ""), p = bundles.get(name);
  if (!p) return word;
  const ch = p.channels.find((c) => c.name === p.default && c.rows.some((i) => p.nodes[i].name === name)) || p.channels.find((c) => c.rows.some((i) => p.nodes[i].name === name)) || channelOf(p);
  return [el("a", { href: address("package", p.catalog.name, p.name, ch?.name || "", name) }, name), word.slice(name.length)];
}));

// stepItem shows a step and, indented, the steps under it.
const stepItem = (s) => el("li", null,
  el("p", { class: "step" }, linked(s.text), " ", el("span", { class: "code", title: titles.get(s.code) || null }, s.code)),
  s.messages ? s.messages.map((m) => el("p", { class: "quote" }, "The author says: ", said(m))) : null,
  s.places ? el("p", { class: "origin" }, "at ", said(s.places[0]), s.places.length > 1 ? ` and ${plural(s.places.length - 1, "more place")}` : null) : null,
  s.because ? el("ul", null, s.because.map(stepItem)) : null);

// help lists fixes, with their commands.
const help = (fixes) => fixes?.length ? [el("h3", null, "What would help"), el("p", { class: "why" }, "Each was resolved again before it is offered, the least disruptive first."),
  el("ol", { class: "fixes" }, fixes.map((f) => el("li", null, linked(f.text), f.commands ? el("pre", null, f.commands.join("\n")) : null)))] : null;

// heldSection shows the operators that get no newer version although there is one.
const heldSection = (list) => el("section", { class: "held", "aria-labelledby": "held" },
  el("h2", { id: "held" }, "No newer version"),
  list.map((h) => [el("p", { class: "note" }, linked(h.text)), h.commands ? el("pre", null, h.commands.join("\n")) : null, help(h.fixes)]));

const coreSection = (c, i) => el("section", { class: "core", "aria-labelledby": "core" + i },
  el("h2", { id: "core" + i }, "Conflict: ", linked(c.headline)),
  c.steps.messages ? c.steps.messages.map((m) => el("p", { class: "quote" }, "The author says: ", said(m))) : null,
  c.steps.places ? el("p", { class: "origin" }, "at ", said(c.steps.places.join(", "))) : null,
  c.steps.because ? [el("h3", null, "Because"), el("ul", { class: "derivation" }, c.steps.because.map(stepItem))] : null,
  (c.notes || []).map((n) => el("p", { class: "note" }, said(n))),
  help(c.fixes));

// glossary explains the words at the steps, for readers who cannot hover.
const glossary = (cores) => {
  const used = new Set();
  const visit = (s) => { used.add(s.code); (s.because || []).forEach(visit); };
  for (const c of cores) (c.steps.because || []).forEach(visit);
  const known = (data.codes || []).filter((c) => used.has(c.code));
  return known.length ? folded("What the words at the steps mean", () => facts(known.map((c) => [el("span", { class: "code" }, c.code), c.title]))) : null;
};

// How an answer ended, as a mark and as the heading of its plan.
const outcome = (a) => (a.ok ? tag("solved", "good") : a.partial ? tag("partly planned", "partly") : a.error ? tag("not resolved", "bad") : tag("no solution", "bad"));

const ACTIONS = { install: "install", upgrade: "upgrade", keep: "keep" };

const reasonsDrawing = (a, onpick) => {
  const boxes = a.nodes.map((n) => {
    const head = n.kind === "subscription" ? "subscription " + n.name : n.name;
    const label = cut(head, 40), detail = cut(n.detail || "", 48);
    return {
      kind: "reason " + n.kind, plain: n.kind === "subscription" && !packageOf(n), width: Math.max(120, widthOf(label, MONO), widthOf(detail, SANS)) + 22, height: detail ? 42 : 26,
      name: [head, n.detail].filter(Boolean).join(", "),
      draw: (g) => put(g, [svg("text", { class: "label", x: 11, y: 17 }, label), detail ? svg("text", { class: "detail", x: 11, y: 33 }, detail) : null]),
    };
  });
  const lines = a.edges.map((e) => {
    const text = e.text === "requests" ? "" : e.text;
    return { from: e.from, to: e.to, kind: text ? "requires" : "asks", text, width: text ? widthOf(cut(text, LINE), SANS) + 16 : 0, height: text ? 16 : 0 };
  });
  const narrow = window.innerWidth < 800;
  const placed = place(boxes, lines, narrow ? "TB" : "LR", { side: 14, rank: narrow ? 26 : 36 });
  return draw(boxes, lines, placed, {
    label: "Reasons: what was asked for, what it got, and what that required", leftmost: true,
    hint: "Arrows point from what asks to what it gets. Drag or scroll to move, Ctrl and scroll to zoom; on a touch screen, two fingers do both. Keys: arrows move between boxes, Enter shows the reasons of an operator or the package of a subscription, + − 0 zoom.",
    home: Math.max(0, a.nodes.findIndex((n) => n.kind === "subscription")), onpick, onclear: () => {},
  });
};

const showAnswer = (main, a) => {
  document.title = `${a.name} – olmkit`;
  put(main, [el("header", { class: "title" }, el("h1", null, said(a.name)),
    a.name.endsWith(" " + a.namespace) ? null : el("p", { class: "why" }, "namespace ", said(a.namespace || "without a name")),
    el("p", null, outcome(a)))]);
  if (a.error) put(main, [el("p", { class: "note" }, said(a.error))]);
  put(main, [(a.cores || []).map(coreSection), a.cores ? glossary(a.cores) : null, (a.warnings || []).map((w) => el("p", { class: "note" }, said(w))), a.held ? heldSection(a.held) : null]);
  if (!a.nodes.length) {
    if (a.ok) put(main, [el("p", null, "Nothing to install or upgrade.")]);
    return;
  }
  const reasons = new Map();
  const rows = a.nodes.map((n, i) => {
    if (n.kind === "subscription") return null;
    const p = packageOf(n);
    const why = n.why ? folded([said(n.why[0].text), n.also ? el("span", { class: "why" }, ` and ${plural(n.also.length, "more reason")}`) : null], () => [el("ul", { class: "derivation" }, n.why.map((w) => el("li", null,
      el("p", { class: "step" }, linked(w.text)), w.place ? el("p", { class: "origin" }, "at ", said(w.place)) : null,
      w.over ? [el("p", { class: "why" }, "It was taken because what is preferred cannot be had:"), el("ul", null, w.over.map(stepItem))] : null))),
      n.see ? el("p", { class: "why" }, "The reasons for ", linked(n.see), " are in its row.") : null,
      n.also ? [el("p", { class: "why" }, "It is asked for by others too:"), el("ul", { class: "derivation" }, n.also.map((x) => el("li", null, el("p", { class: "step" }, linked(x)))))] : null]) : n.detail;
    reasons.set(i, why);
    const name = p ? el("a", { href: address("package", p.catalog.name, p.name, n.channel || channelOf(p)?.name || "", n.name) }, said(n.name)) : said(n.name);
    return [name, ACTIONS[n.kind], said(n.from && n.kind === "upgrade" ? `${n.from} → ${n.to}` : n.to || "", { class: "whole" }), said(n.channel || ""), said(n.catalog || ""), why];
  }).filter(Boolean);
  const drawing = reasonsDrawing(a, (i) => {
    const n = a.nodes[i];
    if (n.kind === "subscription") {
      const p = packageOf(n);
      if (p) location.hash = address("package", p.catalog.name, p.name, n.channel || channelOf(p)?.name || "");
      return;
    }
    const row = reasons.get(i);
    if (!(row instanceof HTMLDetailsElement)) return;
    row.open = true;
    row.fill();
    row.querySelector("summary").focus();
  });
  put(main, [el("h2", null, a.ok ? "The plan" : "What can be planned all the same"), drawing.element,
    el("ul", { class: "legend", "aria-label": "Boxes" }, el("li", null, tag("subscription")), el("li", null, tag("install")), el("li", null, tag("upgrade")), el("li", null, tag("keep"))),
    table("The plan and its reasons", ["Bundle", "Action", "Version", "Channel", "Catalog", "Why"], rows)]);
  set(drawing.element.querySelector("svg"), { height: Math.round(Math.max(120, Math.min(drawing.height, window.innerHeight * 0.6))) });
  drawing.begin();
};

const showAnswers = (main) => {
  document.title = "Resolutions – olmkit";
  put(main, [el("header", { class: "title" }, el("h1", null, "Resolutions")),
    el("ul", { class: "cards" }, data.answers.map((a, i) => el("li", null, el("a", { href: address("resolution", i) }, said(a.name)), " ",
      outcome(a), el("p", { class: "why" }, said(a.cores ? a.cores[0].headline : a.error || plural(a.nodes.filter((n) => n.kind !== "subscription").length, "operator"))))))]);
};
