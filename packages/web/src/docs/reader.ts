// The behaviour of the reference's pages in the browser. Without it they can be read, but not tried out.

import { csrfToken, readStored, store } from "../session.ts";
import { copyText } from "../ui/copy-text.ts";
import { slots } from "./slots.ts";
import { send } from "./try-out.ts";

const languageKey = "presage-docs-language";
/** Never stored: the key is gone with the tab. */
let key = "";

prepare();
document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  const [tab, copy] = [
    target.closest<HTMLElement>("[data-language]"),
    target.closest<HTMLElement>("[data-copy]"),
  ];
  if (tab !== null) chooseLanguage(tab.dataset.language);
  if (copy !== null) void copyCode(copy);
  if (target.closest("[data-search]") !== null) void search();
});
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.name !== "key") return;
  key = target.value.trim();
  fillSlots();
});
document.addEventListener("submit", (event) => {
  if (!(event.target instanceof HTMLFormElement)) return;
  event.preventDefault();
  void send(event.target, key, csrfToken());
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    void search();
  }
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (by === undefined || !(event.target instanceof HTMLElement) || event.target.role !== "tab") return;
  const tabs = [...document.querySelectorAll<HTMLElement>("[data-language]")];
  const next = tabs.at((tabs.indexOf(event.target) + by) % tabs.length);
  next?.focus();
  chooseLanguage(next?.dataset.language);
});
// Replaces the page's content instead of loading a new page, where the browser can, so that an entered key is kept.
window.navigation?.addEventListener("navigate", (event) => {
  const { pathname } = new URL(event.destination.url);
  const isHere = /^\/docs(\/|$)/.test(pathname) && pathname !== location.pathname;
  if (isHere && event.canIntercept && event.downloadRequest === null && event.formData === null)
    event.intercept({
      handler: () =>
        show(event.destination.url, event.signal).catch(() => {
          if (!event.signal.aborted) location.reload();
        }),
    });
});

/** Shows another page of the reference in place of this one. */
async function show(address: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(address, { signal });
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  const main = next.getElementById("main");
  if (!response.ok || main === null) return location.reload();
  document.title = next.title;
  document.getElementById("main")?.replaceWith(main);
  document.getElementById("navigation")?.hidePopover();
  prepare();
}

/** Fills in everything that depends on the reader and on the address. */
function prepare(): void {
  fillSlots();
  chooseLanguage(readStored(languageKey));
  for (const input of document.querySelectorAll<HTMLInputElement>("input[name=key]")) {
    input.value = key;
    if (csrfToken()) input.placeholder = "None needed: you are signed in";
  }
  for (const link of document.querySelectorAll("#navigation nav a")) {
    const isCurrent = link.getAttribute("href") === location.pathname;
    link.toggleAttribute("aria-current", isCurrent);
    if (!isCurrent) continue;
    link.setAttribute("aria-current", "page");
    link.closest("details")?.setAttribute("open", "");
    link.scrollIntoView({ block: "nearest" });
  }
}

function fillSlots(): void {
  const reader = { origin: location.origin, key: /^[\w.-]+$/.test(key) ? key : undefined };
  for (const slot of document.querySelectorAll<HTMLElement>("[data-slot]")) {
    const text = slot.dataset.slot ?? "";
    slot.textContent = slots[text]?.(reader) ?? text;
  }
}

function chooseLanguage(language: string | undefined): void {
  const tabs = [...document.querySelectorAll<HTMLElement>("[data-language]")];
  if (!tabs.some((tab) => tab.dataset.language === language)) return;
  store(languageKey, language ?? "");
  for (const tab of tabs) {
    const isChosen = tab.dataset.language === language;
    tab.ariaSelected = String(isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
    document.getElementById(`code-${tab.dataset.language}`)?.toggleAttribute("hidden", !isChosen);
  }
}

const copiedMs = 2_000;

async function copyCode(button: HTMLElement): Promise<void> {
  const code = button.closest("[data-code]")?.querySelector("code")?.textContent ?? "";
  button.dataset.copy = (await copyText(code)) ? "done" : "";
  setTimeout(() => {
    button.dataset.copy = "";
  }, copiedMs);
}

let openPalette: (() => void) | undefined;
let isPaletteComing = false;

/** Opens the palette, which is loaded on first use. Text typed while it loads is entered into it. */
async function search(): Promise<void> {
  if (openPalette !== undefined) return openPalette();
  if (isPaletteComing) return;
  isPaletteComing = true;
  let typed = "";
  const keep = (event: KeyboardEvent) => {
    if (event.key.length > 1 && event.key !== "Backspace") return;
    typed = event.key === "Backspace" ? typed.slice(0, -1) : typed + event.key;
    event.preventDefault();
  };
  document.addEventListener("keydown", keep);
  try {
    const { putPalette } = await import("./palette.tsx");
    openPalette = putPalette(typed);
  } finally {
    isPaletteComing = false;
    document.removeEventListener("keydown", keep);
  }
}
