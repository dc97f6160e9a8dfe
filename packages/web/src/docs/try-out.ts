const maxShownCharacters = 200_000;

/** Abort controllers of the answers that forms show. */
const shown = new WeakMap<HTMLFormElement, AbortController>();

/** Sends a form's request, and shows the answer below it as it arrives. Does nothing until the form's last request is answered. */
export async function send(form: HTMLFormElement, key: string, csrfToken: string | undefined): Promise<void> {
  const [status, answer] = [form.querySelector("[role=status]"), form.querySelector("[data-answer]")];
  if (status === null || answer === null || form.dataset.sending !== undefined) return;
  const { address, init } = requestOf(form, key, csrfToken);
  const stop = new AbortController();
  // The last answer may still be streaming.
  shown.get(form)?.abort();
  shown.set(form, stop);
  form.dataset.sending = "";
  answer.replaceChildren();
  status.textContent = "Sending …";
  const startedMs = performance.now();
  const elapsed = () => `${Math.round(performance.now() - startedMs)} ms`;
  try {
    const response = await fetch(address, { ...init, signal: stop.signal }).finally(
      () => delete form.dataset.sending,
    );
    status.textContent = `${response.status} ${response.statusText} · ${elapsed()}`;
    const body = preformatted("max-h-96 overflow-y-auto rounded-md bg-sunken p-3");
    answer.append(headersOf(response), body);
    await readInto(body, response, stop);
  } catch (error) {
    if (!stop.signal.aborted)
      status.textContent = `Failed: ${error instanceof Error ? error.message : error}`;
  }
}

function requestOf(form: HTMLFormElement, key: string, csrfToken: string | undefined) {
  const { method = "GET", path = "" } = form.dataset;
  const headers = new Headers();
  const query = new URLSearchParams();
  let address = path;
  let body: string | undefined;
  for (const control of form.elements) {
    if (
      !(
        control instanceof HTMLInputElement ||
        control instanceof HTMLSelectElement ||
        control instanceof HTMLTextAreaElement
      )
    )
      continue;
    const [place, name = ""] = control.name.split(" ");
    if (place === "body") {
      body = control.value;
      headers.set("content-type", control.dataset.type ?? "application/json");
    }
    if (control.value === "" || name === "") continue;
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(control.value));
    if (place === "query") query.append(name, control.value);
    if (place === "header") headers.set(name, control.value);
  }
  if (key !== "") headers.set("x-api-key", key);
  else if (csrfToken && method !== "GET") headers.set("x-csrf-token", csrfToken);
  const init: RequestInit = {
    method,
    headers,
    credentials: key === "" ? "same-origin" : "omit",
    ...(body !== undefined && { body }),
  };
  return { address: query.size === 0 ? address : `${address}?${query}`, init };
}

function headersOf({ headers }: Response): HTMLElement {
  const [details, summary, list] = [
    document.createElement("details"),
    document.createElement("summary"),
    preformatted("pt-1"),
  ];
  summary.textContent = "Headers";
  summary.className = "cursor-pointer text-xs text-ink-2";
  list.textContent = [...headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  details.append(summary, list);
  return details;
}

/** A text element that can be scrolled by keyboard. */
function preformatted(className: string): HTMLElement {
  const element = document.createElement("pre");
  element.className = `font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere ${className}`;
  element.tabIndex = 0;
  return element;
}

/** Shows text as it arrives, since some responses end only when they are stopped, and complete JSON over several lines. */
async function readInto(body: HTMLElement, response: Response, stop: AbortController): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    body.textContent = text;
    if (!body.isConnected) return stop.abort();
    if (text.length < maxShownCharacters) continue;
    body.textContent = `${text.slice(0, maxShownCharacters)}\n… The rest is not shown.`;
    return stop.abort();
  }
  body.textContent =
    text === "" ? "No body." : isJson(response) ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

const isJson = ({ headers }: Response) =>
  headers.get("content-type")?.startsWith("application/json") === true;
