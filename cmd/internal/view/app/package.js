// The view of a package: its channels, the drawing of one, and one version.

const showPackage = (main, p, channel, from) => {
  const ch = channelOf(p, channel);
  document.title = `${p.name} – olmkit`;
  const title = el("header", { class: "title" },
    el("h1", null, said(p.name)),
    p.title && p.title !== p.name ? el("p", { class: "display" }, said(p.title)) : null,
    p.provider ? el("p", { class: "why" }, "by ", said(p.provider)) : null,
    data.catalogs.length > 1 ? el("p", { class: "why" }, "catalog ", said(p.catalog.name)) : null,
    el("p", { class: "why" }, plural(p.nodes.length, "version"), ", ", plural(p.channels.length, "channel")),
    p.summary ? el("p", { class: "summary" }, said(p.summary)) : null,
    p.deprecated ? el("p", { class: "note" }, "Deprecated: ", said(p.deprecated)) : null,
    p.about || p.keywords ? el("div", { class: "about" }, folded("About this package", () => [
      p.about ? said(p.about, { class: "prose" }) : null, p.keywords ? el("p", { class: "why" }, "keywords: ", said(p.keywords.join(", "))) : null], !p.summary)) : null);
  if (!ch) {
    put(main, [title, el("p", null, "This package has no channel, so that nothing of it can be installed.")]);
    return;
  }
  const channels = el("nav", { class: "channels", "aria-label": "Channels" }, p.channels.map((c) => el("a", {
    href: address("package", p.catalog.name, p.name, c.name), "aria-current": c === ch ? "true" : null,
  }, said(c.name), c.name === p.default ? tag("default") : null, c.deprecated ? tag("deprecated") : null, c.faults ? tag("faulty") : null)));

  let chosen = null;
  const panel = el("div", { class: "panel", role: "region", "aria-label": "Version" });
  const choice = el("select", { id: "installed", onchange: () => pick(choice.value === "" ? null : Number(choice.value)) },
    el("option", { value: "" }, "none"), p.nodes.map((n, i) => el("option", { value: i }, n.label + (ch.rows.includes(i) ? "" : " (not in this channel)"))));
  const pick = (node) => {
    chosen = node;
    choice.value = node === null ? "" : String(node);
    const parts = ["package", p.catalog.name, p.name, ch.name];
    if (node !== null) parts.push(p.nodes[node].name);
    history.replaceState(null, "", address(...parts));
    show();
    if (node !== null) speak(`${p.nodes[node].label}: classic OLM ${told(p, walk(ch.classic, node))}; OLM v1 ${told(p, walk(ch.v1, node))}`);
  };
  const drawing = channelDrawing(p, ch, (node) => pick(node === chosen ? null : node), () => pick(null));
  const show = () => {
    clear(panel);
    if (chosen === null) {
      drawing.show(null, []);
      put(panel, [el("div", { class: "empty" }, el("p", null, "Pick a version, in the drawing or above, to see its path to the head in classic OLM and in OLM v1."),
        facts([["default channel", said(p.default || "none")], ["heads", items(p.channels.map((c) => `${c.name}: ${c.heads.map((h) => p.nodes[h].label).join(", ") || "none"}`))]])), ]);
      return;
    }
    put(panel, versionPanel(p, ch, chosen, pick));
    const ways = waysFrom(p, ch, chosen).filter((w) => !w.aside);
    drawing.show(chosen, ways.map((w) => ({ kind: w.kind, side: w.kind === "classic" ? -1 : 1, nodes: [chosen, ...w.walk.steps.map((s) => s.to)] })));
  };

  put(main, [title, channels,
    ch.deprecated ? el("p", { class: "note" }, "This channel is deprecated: ", said(ch.deprecated)) : null,
    ch.faults ? el("div", { class: "note" }, el("p", null, `This channel has faults (${shownOf(ch.faults.length, ch.numFaults, "fault")}); classic OLM does not use a channel without exactly one head:`), el("ul", null, ch.faults.map((f) => el("li", null, said(f))))) : null,
    el("div", { class: "columns" },
      el("div", { class: "left" }, drawing.element, legend(p, ch), folded(`The drawing as a table: ${plural(ch.rows.length, "version")}`, () => channelTable(p, ch), ch.rows.length <= 12)),
      el("div", { class: "right" }, el("p", { class: "choose" }, el("label", { for: "installed" }, "Installed version"), choice), panel))]);
  const picture = drawing.element.querySelector("svg");
  set(picture, { height: Math.round(Math.max(140, Math.min(drawing.height, Math.max(360, window.innerHeight * 0.68)))) });
  const wanted = from === undefined ? p.nodes.findIndex((n) => (n.marks || []).includes("installed")) : p.nodes.findIndex((n) => n.name === from);
  chosen = wanted >= 0 ? wanted : null;
  choice.value = chosen === null ? "" : String(chosen);
  drawing.begin(chosen);
  show();
};
