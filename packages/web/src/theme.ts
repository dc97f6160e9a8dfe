import { readStored, store } from "./session.ts";

/** The user's choice; `system` follows the device. */
export type Theme = "light" | "dark" | "system";

const storageKey = "presage-theme";
/** An event on the document. */
const changed = "presage-theme";

export function readTheme(): Theme {
  const stored = readStored(storageKey);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function storeTheme(theme: Theme): void {
  store(storageKey, theme);
  applyTheme(theme);
  document.dispatchEvent(new Event(changed));
}

/** Calls `listener` whenever the user changes the theme in this page. */
export function watchTheme(listener: () => void): () => void {
  document.addEventListener(changed, listener);
  return () => document.removeEventListener(changed, listener);
}

/** Switches from light to dark, or back. */
export function switchTheme(): void {
  storeTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

export function applyTheme(theme: Theme): void {
  const isDark = theme === "dark" || (theme === "system" && prefersDark().matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

export function prefersDark(): MediaQueryList {
  return matchMedia("(prefers-color-scheme: dark)");
}
