import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";
import { copyText } from "./copy-text.ts";
import { IconButton } from "./icon-button.tsx";

const noticeMs = 1_600;

interface CopyButtonProps {
  text: string;
  /** What is copied, for those who cannot see the picture. */
  label: string;
  /** With words beside the picture. */
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
