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
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), noticeMs);
  }
  const icon = isCopied ? <Check className="text-pass" aria-hidden /> : <Copy aria-hidden />;
  if (children === undefined)
    return <IconButton label={isCopied ? "Copied" : label} icon={icon} onClick={copy} />;
  return (
    <Button icon={icon} onClick={copy} aria-label={isCopied ? "Copied" : label}>
      {isCopied ? "Copied" : children}
    </Button>
  );
}
