/** A text or a name to look for: part of it in any case, all of it with `exact`, or a pattern. */
type Text = string | RegExp;

interface RoleOptions {
  name?: Text;
  exact?: boolean;
  level?: number;
  disabled?: boolean;
}

interface Filter {
  hasText?: Text;
  has?: Locator;
  visible?: boolean;
}

interface InputFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** How long actions wait; the page decides by default. */
interface Patience {
  timeout?: number;
}

interface Search {
  getByRole(role: Role, options?: RoleOptions): Locator;
  getByText(text: Text, options?: { exact?: boolean }): Locator;
  getByLabel(text: Text, options?: { exact?: boolean }): Locator;
  getByTitle(text: Text, options?: { exact?: boolean }): Locator;
  locator(selector: string, options?: Filter): Locator;
}

/** Elements that are searched for at each action: the part of Playwright's locators that works without layout. */
export interface Locator extends Search {
  filter(filter?: Filter): Locator;
  and(other: Locator): Locator;
  or(other: Locator): Locator;
  first(): Locator;
  last(): Locator;
  nth(index: number): Locator;
  all(): Promise<Locator[]>;
  count(): Promise<number>;
  waitFor(options?: Patience & { state?: "attached" | "detached" | "visible" | "hidden" }): Promise<void>;
  click(options?: Patience & { force?: boolean }): Promise<void>;
  hover(options?: Patience): Promise<void>;
  focus(options?: Patience): Promise<void>;
  press(key: string): Promise<void>;
  pressSequentially(text: string): Promise<void>;
  fill(value: string): Promise<void>;
  check(options?: Patience): Promise<void>;
  uncheck(options?: Patience): Promise<void>;
  selectOption(option: string | { label: string }): Promise<unknown>;
  setInputFiles(files: InputFile | InputFile[]): Promise<void>;
  isVisible(): Promise<boolean>;
  isChecked(): Promise<boolean>;
  isDisabled(): Promise<boolean>;
  inputValue(): Promise<string>;
  getAttribute(name: string): Promise<string | null>;
  textContent(): Promise<string | null>;
  allTextContents(): Promise<string[]>;
  allInnerTexts(): Promise<string[]>;
  evaluate<Result, Found extends Element = HTMLElement>(
    read: (element: Found) => Result,
  ): Promise<Awaited<Result>>;
  evaluateAll<Result, Found extends Element = HTMLElement>(
    read: (elements: Found[]) => Result,
  ): Promise<Awaited<Result>>;
}

export interface PageRequest {
  url(): string;
  method(): string;
}

interface FetchedResponse {
  json(): Promise<object>;
}

export interface PageRoute {
  request(): PageRequest;
  /** Sends the request unchanged. */
  continue(): Promise<void>;
  /** Sends the request, and returns the response without handing it to the page. */
  fetch(): Promise<FetchedResponse>;
  fulfill(answer: { response?: FetchedResponse; status?: number; json?: unknown }): Promise<void>;
  abort(): Promise<void>;
}

type RouteHandler = (route: PageRoute) => unknown;

/** A page of the dashboard, in a browser or in happy-dom. */
export interface Page extends Search {
  url(): string;
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  goBack(): Promise<unknown>;
  close(): Promise<void>;
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  evaluate<Result>(read: () => Result): Promise<Awaited<Result>>;
  route(url: string | RegExp, handler: RouteHandler, options?: { times?: number }): Promise<unknown>;
  unroute(url: string | RegExp): Promise<void>;
  on(event: "request", listener: (request: PageRequest) => void): unknown;
  waitForURL(url: string | RegExp | ((url: URL) => boolean)): Promise<void>;
  waitForRequest(url: string | RegExp): Promise<unknown>;
  waitForResponse(url: string | RegExp): Promise<unknown>;
  waitForLoadState(state: "networkidle"): Promise<void>;
}

/** The roles that tests look for. */
export type Role =
  | "alert"
  | "alertdialog"
  | "button"
  | "cell"
  | "checkbox"
  | "columnheader"
  | "combobox"
  | "complementary"
  | "definition"
  | "deletion"
  | "dialog"
  | "figure"
  | "form"
  | "group"
  | "heading"
  | "img"
  | "insertion"
  | "link"
  | "list"
  | "listitem"
  | "log"
  | "main"
  | "menu"
  | "menuitem"
  | "menuitemcheckbox"
  | "navigation"
  | "option"
  | "radio"
  | "region"
  | "row"
  | "rowheader"
  | "searchbox"
  | "slider"
  | "status"
  | "switch"
  | "tab"
  | "table"
  | "tabpanel"
  | "term"
  | "textbox"
  | "tooltip";
