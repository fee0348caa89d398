// What the pages do besides being read: search as you type, loading parts of a long conversation, the keyboard, live
// updates. Every page works without it.
"use strict";

const base = document.body.dataset.base;
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const say = (text) => { $("#said").textContent = text; setTimeout(() => { $("#said").textContent = ""; }, 2500); };

async function fetchPart(address) {
  const url = new URL(address, location.href);
  url.searchParams.set("part", "1");
  const answer = await fetch(url, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html").body;
}

// theme: the system's, light or dark
const themes = ["", "light", "dark"];
const switcher = $("[data-theme-switch]");
function showTheme() {
  const theme = document.documentElement.dataset.theme || "";
  switcher.textContent = { "": "Auto", light: "Light", dark: "Dark" }[theme];
  switcher.setAttribute("aria-label", `Colours: ${switcher.textContent}`);
}
switcher.hidden = false;
showTheme();
switcher.addEventListener("click", () => {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme || "") + 1) % themes.length];
  if (next) document.documentElement.dataset.theme = next; else delete document.documentElement.dataset.theme;
  document.cookie = `backstory_theme=${next}; path=${base || "/"}; max-age=${next ? 31536000 : 0}; samesite=strict`;
  showTheme();
});

// copying
for (const button of $$("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    say("Copied");
  });
}

// search as you type
const results = $("#results");
const field = $("#q");
const isNarrow = matchMedia("(max-width: 1080px)");
const foldFacets = () => { const facets = $(".facets"); if (facets && isNarrow.matches) facets.open = false; };
if (results) {
  foldFacets();
  let latest = 0, waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const mine = ++latest, url = new URL(location.href);
      url.searchParams.set("q", field.value.trim());
      url.searchParams.delete("page");
      const part = await fetchPart(url).catch(() => null);
      if (part === null || mine !== latest) return;
      results.replaceChildren(...part.childNodes);
      foldFacets();
      history.replaceState(null, "", url);
      document.title = `${field.value.trim() || "Search"} · Backstory`;
    }, 160);
  });
}

// a long conversation: its next part is fetched before it is reached, and nothing moves when an earlier one comes
const messages = $("#messages");
async function load(more) {
  if (!more || more.dataset.loading) return;
  more.dataset.loading = "1";
  const part = await fetchPart($("a", more).href).catch(() => null);
  if (part === null) { delete more.dataset.loading; return; }
  const isEarlier = "earlier" in more.dataset;
  const inverse = $(isEarlier ? "[data-later]" : "[data-earlier]", part);
  if (inverse) inverse.remove();
  const anchor = isEarlier ? $(".message", messages) : null;
  const before = anchor ? anchor.getBoundingClientRect().top : 0;
  more.replaceWith(...part.childNodes);
  if (anchor) window.scrollBy(0, anchor.getBoundingClientRect().top - before);
  watch();
}
const nearing = messages && new IntersectionObserver((entries) => {
  for (const each of entries) if (each.isIntersecting) load(each.target);
}, { rootMargin: "1800px 0px" });
function watch() {
  if (nearing) for (const each of $$(".more", messages)) nearing.observe(each);
  if (reading) for (const each of $$("[data-prompt]", messages)) reading.observe(each);
}
const reading = messages && new IntersectionObserver((entries) => {
  for (const each of entries) if (each.isIntersecting) showPrompt(each.target.dataset.prompt);
}, { rootMargin: "-70px 0px -70% 0px" });
function showPrompt(number) {
  for (const each of $$(".prompts .now")) each.classList.remove("now");
  const link = $(`.prompts [data-number="${CSS.escape(number)}"]`);
  if (link) { link.classList.add("now"); keepVisible(link); }
}
function keepVisible(link) {
  const rail = link.closest(".rail"), top = link.offsetTop - rail.clientHeight / 2;
  if (rail.scrollHeight > rail.clientHeight && getComputedStyle(rail).position === "sticky") rail.scrollTop = top;
}
async function jumpTo(number) {
  const there = document.getElementById(`m${number}`);
  if (!there) { location.href = `?at=${number}#m${number}`; return; }
  there.scrollIntoView({ block: "start" });
  there.focus({ preventScroll: true });
}
async function stepPrompt(direction) {
  const line = 90, places = $$("[data-prompt]", messages);
  const tops = places.map((each) => each.getBoundingClientRect().top);
  let next = direction > 0 ? places.find((_, i) => tops[i] > line) : places.findLast((_, i) => tops[i] < line - 20);
  if (!next) {
    const more = $(direction > 0 ? "[data-later]" : "[data-earlier]", messages);
    if (!more) return;
    await load(more);
    return stepPrompt(direction);
  }
  jumpTo(next.dataset.prompt);
}
if (messages) {
  watch();
  for (const link of $$(".prompts a")) link.addEventListener("click", (event) => {
    if (!document.getElementById(`m${link.dataset.number}`)) return;
    event.preventDefault();
    history.replaceState(null, "", link.getAttribute("href"));
    jumpTo(link.dataset.number);
  });
}

// what was said meanwhile
const recent = $("#recent");
if (recent || messages) {
  const about = messages ? `?conversation=${encodeURIComponent(messages.dataset.conversation)}` : "";
  let known = null;
  new EventSource(`${base}/events${about}`).onmessage = async (event) => {
    const told = JSON.parse(event.data), before = known;
    known = told;
    if (messages) await showNew(told.end);
    else if (before !== null) {
      const answer = await fetch(`${base}/`);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("recent");
      if (answer.ok && fresh) $("#recent").replaceWith(fresh);
    }
  };
}
async function showNew(end) {
  const shown = Number(messages.dataset.end);
  if (!(end > shown)) return;
  messages.dataset.end = end;
  say(`${end - shown} new`);
  if ($("[data-later]", messages)) return;  // they come when one gets there
  const part = await fetchPart(`${base}/conversation/${encodeURIComponent(messages.dataset.conversation)}?from=${shown + 1}`);
  for (const each of $$("[data-earlier]", part)) each.remove();
  messages.append(...part.childNodes);
  watch();
}

// the keyboard
const lettersKey = "backstory-letters";
const letters = $("#letters");
letters.checked = localStorage.getItem(lettersKey) !== "off";
letters.addEventListener("change", () => localStorage.setItem(lettersKey, letters.checked ? "on" : "off"));
for (const button of $$("[data-help]")) { button.hidden = false; button.addEventListener("click", () => $("#help").showModal()); }

function step(direction) {
  const hits = $$(".hit, .row, .entry").filter((each) => each.offsetParent);
  if (!hits.length) return;
  const now = hits.findIndex((each) => each.contains(document.activeElement));
  const next = hits[Math.min(Math.max(now + direction, 0), hits.length - 1)];
  ($("a", next) || next).focus();
  next.scrollIntoView({ block: "nearest" });
}
let isGoing = false;
const keys = {
  "/": () => { field.focus(); field.select(); },
  "?": () => $("#help").showModal(),
  j: () => step(1),
  k: () => step(-1),
  w: () => { const why = document.activeElement.closest(".hit")?.querySelector(".why"); if (why) why.open = !why.open; },
  "[": () => messages && stepPrompt(-1),
  "]": () => messages && stepPrompt(1),
  g: () => { isGoing = true; setTimeout(() => { isGoing = false; }, 1200); },
};
document.addEventListener("keydown", (event) => {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openJump(); return; }
  const typing = event.target.closest("input, textarea, select, dialog");
  if (typing || event.metaKey || event.ctrlKey || event.altKey || !letters.checked) return;
  if (isGoing) {
    isGoing = false;
    const link = $(`.menu [data-key="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  if (Object.hasOwn(keys, event.key)) { event.preventDefault(); keys[event.key](); }
});

// go to a page, or search
const jump = $("#jump"), jumpField = $("input", jump), jumpList = $("#jump-list");
let chosen = 0;
function places() {
  const text = jumpField.value.trim().toLowerCase();
  const pages = $$(".menu a").map((each) => ({ name: each.textContent, href: each.href }));
  const found = pages.filter((each) => each.name.toLowerCase().includes(text));
  const query = { name: `Search for “${jumpField.value.trim()}”`, href: `${base}/search?q=${encodeURIComponent(jumpField.value.trim())}` };
  return text ? [query, ...found] : found;
}
function showPlaces() {
  const options = places().map((place, number) => {
    const option = document.createElement("li");
    option.id = `jump-${number}`;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", String(number === chosen));
    option.textContent = place.name;
    option.addEventListener("click", () => { location.href = place.href; });
    return option;
  });
  jumpList.replaceChildren(...options);
  jumpField.setAttribute("aria-activedescendant", options.length ? `jump-${chosen}` : "");
  options[chosen]?.scrollIntoView({ block: "nearest" });
}
function openJump() { if (jump.open) return; jumpField.value = ""; chosen = 0; showPlaces(); jump.showModal(); jumpField.focus(); }
jumpField.addEventListener("input", () => { chosen = 0; showPlaces(); });
jumpField.addEventListener("keydown", (event) => {
  const count = places().length;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : count - 1)) % Math.max(count, 1);
    showPlaces();
  } else if (event.key === "Enter" && places()[chosen]) { event.preventDefault(); location.href = places()[chosen].href; }
});
for (const dialog of $$("dialog")) dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

// where one is: on a phone the menu is wider than the screen. Last, since it is laid out for that, and keys need not wait
const here = $(".menu [aria-current]");
if (here) $(".menu ul").scrollLeft = here.offsetLeft - $(".menu ul").clientWidth / 2;
