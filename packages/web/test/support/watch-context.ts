import type { BrowserContext, Page } from "playwright-core";

/**
 * Collects into `problems` what pages of the server at `origin` may not do: errors, browser dialogs and requests to other
 * origins. Pages may navigate to `otherOrigins`, whose own pages are not checked.
 */
export function watchContext(
  context: BrowserContext,
  origin: string,
  otherOrigins: readonly string[],
  problems: string[],
): void {
  const isOurs = (page: Page | null) => page === null || !otherOrigins.includes(new URL(page.url()).origin);

  // Includes violations of the Content-Security-Policy.
  context.on("console", (message) => {
    if (message.type() !== "error" || !isOurs(message.page())) return;
    problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (webError) => {
    if (!isOurs(webError.page())) return;
    const error: unknown = webError.error();
    problems.push(`page: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  });
  context.on("dialog", async (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  context.on("request", (request) => {
    const target = new URL(request.url());
    if (!/^(https?|wss?):$/.test(target.protocol) || target.origin === origin) return;
    const isAllowed = request.isNavigationRequest()
      ? otherOrigins.includes(target.origin)
      : !isOurs(request.frame().page());
    if (!isAllowed) problems.push(`request to elsewhere: ${target.href}`);
  });
}
