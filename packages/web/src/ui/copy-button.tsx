import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";
import { IconButton } from "./icon-button.tsx";

const noticeMs = 1_600;

interface CopyButtonProps {
  text: string;
  /** For screen readers. */
  label: string;
  /** Shown beside the icon. */
  children?: string;
}

export function CopyButton({ text, label, children }: CopyButtonProps) {
  const [notice, setNotice] = useState<"Copied" | "Could not copy">();
  async function copy() {
    setNotice((await copyText(text)) ? "Copied" : "Could not copy");
    setTimeout(() => setNotice(undefined), noticeMs);
  }
  const icon = notice === "Copied" ? <Check className="text-pass" aria-hidden /> : <Copy aria-hidden />;
  if (children === undefined) return <IconButton label={notice ?? label} icon={icon} onClick={copy} />;
  return (
    <Button icon={icon} onClick={copy} aria-label={notice ?? label}>
      {notice ?? children}
    </Button>
  );
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
