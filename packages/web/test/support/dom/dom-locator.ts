import { setTimeout as sleep } from "node:timers/promises";
import type { UserEvent } from "@testing-library/user-event";
import type { Locator } from "../page.ts";
import {
  byLabel,
  byRole,
  bySelector,
  byText,
  byTitle,
  hasText,
  isDisabled,
  isVisible,
  type Query,
} from "./locators.ts";
import type { DomWindow } from "./window.ts";

/** The parts of a page that its locators need. */
export interface Tab {
  window(): DomWindow;
  /** Does something as a user, and waits for the immediate effects. */
  act(deed: (user: UserEvent) => Promise<unknown>): Promise<void>;
  /** Runs a test's function in the page. */
  evaluate(read: (...given: never[]) => unknown, ...given: unknown[]): Promise<never>;
  keys: { press(key: string): Promise<void>; type(text: string): Promise<void> };
}

const patienceMs = 60_000;

/** Queries of locators, to search for one locator within another. */
const queries = new WeakMap<Locator, Query>();

export function searchIn(tab: Tab, query: Query) {
  const below =
    (next: Query): Query =>
    (root) => [...new Set(query(root).flatMap((element) => next(element)))];
  const find = (next: Query, filter?: Parameters<Locator["filter"]>[0]) => {
    const found = createLocator(tab, below(next));
    return filter === undefined ? found : found.filter(filter);
  };
  return {
    getByRole: (role, options = {}) => find(byRole(role, options)),
    getByText: (text, { exact = false } = {}) => find(byText(text, exact)),
    getByLabel: (text, { exact = false } = {}) => find(byLabel(text, exact)),
    getByTitle: (text, { exact = false } = {}) => find(byTitle(text, exact)),
    locator: (selector, filter) => find(bySelector(selector), filter),
  } satisfies Pick<Locator, "getByRole" | "getByText" | "getByLabel" | "getByTitle" | "locator">;
}

function createLocator(tab: Tab, query: Query): Locator {
  const root = () => tab.window().document.documentElement;
  const elements = () => query(root());
  const narrowed = (narrow: (found: Element[], root: Element) => Element[]) =>
    createLocator(tab, (at) => narrow(query(at), at));

  /** The only matching element, once it exists and can be acted on. */
  async function element(canAct: (found: Element) => boolean = () => true): Promise<HTMLElement> {
    const [found] = await until(() => {
      const all = elements();
      if (all.length > 1) throw new Error(`${all.length} elements were found:\n${all.map(show).join("\n")}`);
      return all.length === 1 && all.every(canAct) ? all : undefined;
    }, root);
    return found as HTMLElement;
  }
  const ready = (found: Element) =>
    isVisible(found) && !isDisabled(found) && found.getAttribute("aria-disabled") !== "true";
  const change = async (found: HTMLElement, set: () => void) => {
    found.focus();
    const { Event } = tab.window();
    set();
    found.dispatchEvent(new Event("input", { bubbles: true }));
    found.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const setChecked = async (wanted: boolean) => {
    const found = await element(ready);
    if (isChecked(found) !== wanted) await tab.act((user) => user.click(found));
  };

  const locator: Locator = {
    ...searchIn(tab, query),
    filter({ hasText: text, has, visible } = {}) {
      const inner = has && queries.get(has);
      return narrowed((found) =>
        found.filter(
          (one) =>
            (text === undefined || hasText(one, text)) &&
            (inner === undefined || inner(one).length > 0) &&
            (visible === undefined || isVisible(one) === visible),
        ),
      );
    },
    and: (other) =>
      narrowed((found, at) => {
        const others = new Set(queries.get(other)?.(at));
        return found.filter((one) => others.has(one));
      }),
    or: (other) => narrowed((found, at) => [...new Set([...found, ...(queries.get(other)?.(at) ?? [])])]),
    first: () => narrowed((found) => found.slice(0, 1)),
    last: () => narrowed((found) => found.slice(-1)),
    nth: (index) => narrowed((found) => found.slice(index, index + 1)),
    all: async () => elements().map((_, index) => locator.nth(index)),
    count: async () => elements().length,
    async waitFor({ state = "visible", timeout } = {}) {
      await until(
        () => {
          const found = elements();
          if (found.length > 1 && state !== "detached" && state !== "hidden")
            throw new Error(`${found.length} elements were found:\n${found.map(show).join("\n")}`);
          const isThere =
            state === "attached" || state === "detached" ? found.length > 0 : found.some(isVisible);
          return isThere === (state === "attached" || state === "visible") ? true : undefined;
        },
        root,
        timeout,
      );
    },
    async click({ force = false } = {}) {
      const found = await element(force ? undefined : ready);
      await tab.act((user) => user.click(found));
    },
    async hover() {
      const found = await element(isVisible);
      await tab.act((user) => user.hover(found));
    },
    async focus() {
      (await element()).focus();
    },
    async press(key) {
      (await element()).focus();
      await tab.keys.press(key);
    },
    async pressSequentially(text) {
      (await element()).focus();
      await tab.keys.type(text);
    },
    async fill(value) {
      const found = await element(ready);
      await change(found, () => setValue(found, value));
    },
    check: () => setChecked(true),
    uncheck: () => setChecked(false),
    async selectOption(wanted) {
      const label = typeof wanted === "string" ? wanted : wanted.label;
      const optionOf = (found: Element) =>
        [...(found as HTMLSelectElement).options].find(
          (option) => option.label === label || option.value === label,
        );
      const found = await element((one) => ready(one) && optionOf(one) !== undefined);
      await change(found, () => setValue(found, optionOf(found)?.value ?? ""));
    },
    async setInputFiles(files) {
      const { File } = tab.window();
      const found = await element();
      const chosen = [files]
        .flat()
        .map(({ name, mimeType, buffer }) => new File([new Uint8Array(buffer)], name, { type: mimeType }));
      await tab.act((user) => user.upload(found, chosen));
    },
    isVisible: async () => elements().some(isVisible),
    isChecked: async () => isChecked(await element()),
    isDisabled: async () => isDisabled(await element()),
    inputValue: async () => ((await element()) as HTMLInputElement).value,
    getAttribute: async (name) => (await element()).getAttribute(name),
    textContent: async () => (await element()).textContent,
    allTextContents: async () => elements().map(({ textContent }) => textContent ?? ""),
    allInnerTexts: async () => elements().map(({ textContent }) => textContent ?? ""),
    evaluate: async (read) => await tab.evaluate(read, await element()),
    evaluateAll: async (read) => await tab.evaluate(read, elements()),
  };
  queries.set(locator, query);
  return locator;
}

function isChecked(element: Element): boolean {
  if ("checked" in element) return element.checked === true;
  return element.getAttribute("aria-checked") === "true";
}

/** Sets a value as a user does: React ignores changes that scripts make through its own setter. */
function setValue(element: HTMLElement, value: string): void {
  for (let at = Object.getPrototypeOf(element); at !== null; at = Object.getPrototypeOf(at)) {
    const setter = Object.getOwnPropertyDescriptor(at, "value")?.set;
    if (setter === undefined) continue;
    setter.call(element, value);
    return;
  }
}

/** Repeats a probe, with short pauses at first, until it returns something. */
export async function until<Found>(
  probe: () => Found | undefined,
  root: () => Element,
  patience = patienceMs,
): Promise<Found> {
  const deadlineMs = performance.now() + patience;
  let refusal: unknown;
  for (let pauseMs = 15; ; pauseMs = Math.min(150, pauseMs * 1.5)) {
    try {
      const found = probe();
      if (found !== undefined) return found;
      refusal = undefined;
    } catch (error) {
      refusal = error;
    }
    if (performance.now() > deadlineMs) {
      throw (
        refusal ??
        new Error(`This did not come in ${patience} ms, in the page:\n${root().outerHTML.slice(0, 20_000)}`)
      );
    }
    await sleep(pauseMs);
  }
}

function show(element: Element): string {
  return element.outerHTML.slice(0, 200);
}
