// The view of a resolution: a graph of reasons, or the derivation of a conflict.

// stepItem tells a step and, indented, what stands under it.
const stepItem = (s) => el("li", null,
  el("p", { class: "step" }, said(s.text), " ", el("span", { class: "code", title: titles.get(s.code) || null }, s.code)),
  s.messages ? s.messages.map((m) => el("p", { class: "quote" }, "The author says: ", said(m))) : null,
  s.places ? el("p", { class: "origin" }, "at ", said(s.places[0]), s.places.length > 1 ? ` and ${plural(s.places.length - 1, "more place")}` : null) : null,
  s.because ? el("ul", null, s.because.map(stepItem)) : null);

const coreSection = (c, i) => el("section", { class: "core", "aria-labelledby": "core" + i },
  el("h2", { id: "core" + i }, "Conflict: ", said(c.headline)),
  c.steps.messages ? c.steps.messages.map((m) => el("p", { class: "quote" }, "The author says: ", said(m))) : null,
  c.steps.places ? el("p", { class: "origin" }, "at ", said(c.steps.places.join(", "))) : null,
  c.steps.because ? [el("h3", null, "Because"), el("ul", { class: "derivation" }, c.steps.because.map(stepItem))] : null,
  (c.notes || []).map((n) => el("p", { class: "note" }, said(n))),
  c.fixes.length ? [el("h3", null, "What would help"), el("p", { class: "why" }, "Each was resolved again before it is offered; the least disturbing first."),
    el("ol", { class: "fixes" }, c.fixes.map((f) => el("li", null, said(f.text))))] : null);

// glossary tells what the words at the steps mean, for whoever cannot hover.
const glossary = (cores) => {
  const used = new Set();
  const visit = (s) => { used.add(s.code); (s.because || []).forEach(visit); };
  for (const c of cores) (c.steps.because || []).forEach(visit);
  const known = (data.codes || []).filter((c) => used.has(c.code));
  return known.length ? folded("What the words at the steps mean", () => facts(known.map((c) => [el("span", { class: "code" }, c.code), c.title]))) : null;
};

const ACTIONS = { install: "install", upgrade: "upgrade", keep: "keep" };

const reasonsDrawing = (a, onpick) => {
  const boxes = a.nodes.map((n) => {
    const head = n.kind === "subscription" ? "subscription " + n.name : n.name;
    const label = cut(head, 40), detail = cut(n.detail || "", 48);
    return {
      kind: "reason " + n.kind, width: Math.max(120, widthOf(label, MONO), widthOf(detail, SANS)) + 22, height: detail ? 42 : 26,
      name: [head, n.detail].filter(Boolean).join(", "),
      draw: (g) => put(g, [svg("text", { class: "label", x: 11, y: 17 }, label), detail ? svg("text", { class: "detail", x: 11, y: 33 }, detail) : null]),
    };
  });
  const lines = a.edges.map((e) => {
    const text = e.text === "asks for" ? "" : e.text;
    return { from: e.from, to: e.to, kind: text ? "requires" : "asks", text, width: text ? widthOf(cut(text, LINE), SANS) + 16 : 0, height: text ? 16 : 0 };
  });
  const narrow = window.innerWidth < 800;
  const placed = place(boxes, lines, narrow ? "TB" : "LR", { side: 14, rank: narrow ? 26 : 36 });
  return draw(boxes, lines, placed, {
    label: "Reasons: what was asked for, what it got, and what that required", across: !narrow,
    hint: "Drag or scroll to move, Ctrl and scroll to zoom. Keys: arrows move between boxes, Enter shows the reasons, + − 0 zoom.",
    home: Math.max(0, a.nodes.findIndex((n) => n.kind === "subscription")), onpick, onclear: () => {},
  });
};

const showAnswer = (main, a) => {
  document.title = `${a.name} – olmkit`;
  put(main, [el("header", { class: "title" }, el("h1", null, said(a.name)),
    a.name.endsWith(" " + a.namespace) ? null : el("p", { class: "why" }, "namespace ", said(a.namespace || "without a name")),
    el("p", null, a.ok ? tag("solved", "good") : a.error ? tag("not resolved", "bad") : tag("no solution", "bad")))]);
  if (a.error) put(main, [el("p", { class: "note" }, said(a.error))]);
  put(main, [(a.cores || []).map(coreSection), a.cores ? glossary(a.cores) : null, (a.warnings || []).map((w) => el("p", { class: "note" }, said(w)))]);
  if (!a.nodes.length) {
    if (a.ok) put(main, [el("p", null, "Nothing to install or upgrade.")]);
    return;
  }
  const told = new Map();
  const rows = a.nodes.map((n, i) => {
    if (n.kind === "subscription") return null;
    const p = findPackage(n.catalog, n.package);
    const why = n.why ? folded(said(n.why[0].text), () => el("ul", { class: "derivation" }, n.why.map((w) => el("li", null,
      el("p", { class: "step" }, said(w.text)), w.place ? el("p", { class: "origin" }, "at ", said(w.place)) : null,
      w.over ? [el("p", { class: "why" }, "It was taken because what is preferred cannot be had:"), el("ul", null, w.over.map(stepItem))] : null)))) : n.detail;
    told.set(i, why);
    const name = p ? el("a", { href: address("package", p.catalog.name, p.name, n.channel || channelOf(p)?.name || "", n.name) }, said(n.name)) : said(n.name);
    return [name, ACTIONS[n.kind], said(n.from && n.kind === "upgrade" ? `${n.from} → ${n.to}` : n.to || "", { class: "whole" }), said(n.channel || ""), said(n.catalog || ""), why];
  }).filter(Boolean);
  const drawing = reasonsDrawing(a, (i) => {
    const row = told.get(i);
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
      a.ok ? tag("solved", "good") : tag(a.error ? "not resolved" : "no solution", "bad"), el("p", { class: "why" }, said(a.cores ? a.cores[0].headline : a.error || plural(a.nodes.filter((n) => n.kind !== "subscription").length, "operator"))))))]);
};
