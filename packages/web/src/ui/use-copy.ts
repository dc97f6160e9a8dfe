import { useState } from "react";

const noticeMs = 1_600;

/** Copies texts, and says for a moment whether that worked. */
export function useCopy() {
  const [notice, setNotice] = useState<"Copied" | "Could not copy">();
  async function copy(text: string): Promise<void> {
    setNotice((await copyText(text)) ? "Copied" : "Could not copy");
    setTimeout(() => setNotice(undefined), noticeMs);
  }
  return { notice, copy };
}

/**
 * Copies a text and returns whether that worked. The clipboard API is missing on pages served over plain HTTP and may be
 * denied elsewhere.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text: string): boolean {
  const fill = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", fill, { once: true });
  const isCopied = document.execCommand("copy");
  document.removeEventListener("copy", fill);
  return isCopied;
}
