import type { BrowserContext, Page } from "playwright-core";

/**
 * Collects, into `issues`, what no page of the server at `origin` may do: errors in the console and out of it, dialogs
 * of the browser, and calls to other origins. It may lead to `otherOrigins`, whose own pages are not judged.
 */
export function watchContext(
  context: BrowserContext,
  origin: string,
  otherOrigins: readonly string[],
  issues: string[],
): void {
  const isOurs = (page: Page | null) => page === null || !otherOrigins.includes(new URL(page.url()).origin);

  // Violations of the Content-Security-Policy are among the console's errors.
  context.on("console", (message) => {
    if (message.type() !== "error" || !isOurs(message.page())) return;
    issues.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (webError) => {
    if (!isOurs(webError.page())) return;
    const error: unknown = webError.error();
    issues.push(`page: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  });
  context.on("dialog", async (dialog) => {
    issues.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  context.on("request", (request) => {
    const target = new URL(request.url());
    if (!/^(https?|wss?):$/.test(target.protocol) || target.origin === origin) return;
    const isAllowed = request.isNavigationRequest()
      ? otherOrigins.includes(target.origin)
      : !isOurs(request.frame().page());
    if (!isAllowed) issues.push(`request to elsewhere: ${target.href}`);
  });
}
