// Views and the way between them: the part of the address behind "#".

const main = document.getElementById("main");

const showCatalogs = () => {
  document.title = data.title;
  put(main, [data.catalogs.map((c) => {
    const titled = c.packages.some((p) => p.title); // otherwise the column would be empty
    return [
      el("header", { class: "title" }, el("h1", null, said(c.name)), el("p", { class: "why" }, plural(c.packages.length, "package"), ", ", plural(c.channels, "channel"), ", ", plural(c.bundles, "bundle"))),
      c.problems ? folded(shownOf(c.problems.length, c.numProblems, "problem"), () => el("ul", null, c.problems.map((x) => el("li", null, said(x))))) : null,
      c.noWords ? el("p", { class: "note" }, "Packages have no descriptions here, because the catalog is an index without its files. Make the page from the directory, or name it: --catalog PATH,source=DIR.") : null,
      table("Packages of " + c.name, ["Package", ...(titled ? ["Display name"] : []), "Default channel", "Head", { number: "Channels" }, { number: "Versions" }, "Notes"], c.packages.map((p) => {
        const ch = channelOf(p, p.default);
        return [el("a", { href: address("package", c.name, p.name) }, said(p.name)), ...(titled ? [said(p.title || "")] : []), said(p.default), said(ch ? ch.heads.map((h) => p.nodes[h].label).join(", ") : ""),
          String(p.channels.length), String(p.nodes.length), [p.deprecated ? mark("deprecated") : null, hasInstalled(p) ? mark("installed") : null, p.channels.some((x) => x.faults) ? tag("faulty") : null, differs(p)]];
      }))];
  })]);
};

// route shows what the address names.
const route = (first) => {
  const parts = location.hash.startsWith("#/") ? location.hash.slice(2).split("/").map((x) => { try { return decodeURIComponent(x); } catch { return ""; } }) : null;
  if (!parts && location.hash && !first) return; // a place within the page
  const [kind, ...rest] = parts || [""];
  clear(main);
  printing.fit = null;
  window.scrollTo(0, 0);
  let p = null;
  if (kind === "package") p = findPackage(rest[0], rest[1]);
  if (p) showPackage(main, p, rest[2], rest[3]);
  else if (kind === "resolution" && data.answers[Number(rest[0])]) showAnswer(main, data.answers[Number(rest[0])]);
  else if (kind === "resolutions" && data.answers.length) showAnswers(main);
  else if (kind === "difference" && data.diff) showDiff(main);
  else if (kind === "" && first && data.diff) return location.replace(address("difference"));
  else if (kind === "" && first && data.answers.length) return location.replace(data.answers.length === 1 ? address("resolution", 0) : address("resolutions"));
  else showCatalogs();
  showCurrent(p);
  for (const a of document.querySelectorAll("#views a")) {
    const mine = a.dataset.kind === (p ? "packages" : kind === "resolution" ? "resolutions" : kind || "packages");
    if (mine) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  if (!first) main.focus({ preventScroll: true });
};

const views = [["packages", address("packages"), "Packages"]];
if (data.answers.length === 1) views.push(["resolutions", address("resolution", 0), "Resolution"]);
if (data.answers.length > 1) views.push(["resolutions", address("resolutions"), `Resolutions (${data.answers.length})`]);
if (data.diff) views.push(["difference", address("difference"), "Difference"]);
put(document.getElementById("views"), views.map(([kind, href, text]) => el("a", { href, "data-kind": kind }, text)));
put(document.getElementById("summary"), [said(data.catalogs.map((c) => c.name).join(", ")), ": ",
  plural(data.catalogs.reduce((n, c) => n + c.packages.length, 0), "package"), ", ", plural(data.catalogs.reduce((n, c) => n + c.bundles, 0), "bundle")]);

window.addEventListener("hashchange", () => route(false));
window.addEventListener("beforeprint", () => { for (const d of main.querySelectorAll("details")) { d.fill?.(); d.open = true; } });
document.addEventListener("keydown", (e) => {
  if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "")) return;
  e.preventDefault();
  list.input.focus();
  list.input.select();
});
startList();
route(true);
document.documentElement.dataset.ready = "true";
