/** Puts a text on the clipboard. A page that came by plain HTTP from another machine has the old way only. */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) return await navigator.clipboard.writeText(text);
  const fill = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", fill, { once: true });
  document.execCommand("copy");
  document.removeEventListener("copy", fill);
}
