import { Check, Copy } from "lucide-react";
import { Button } from "./button.tsx";
import { IconButton } from "./icon-button.tsx";
import { useCopy } from "./use-copy.ts";

interface CopyButtonProps {
  /** Or what makes it when it is copied. */
  text: string | (() => string);
  /** For screen readers. */
  label: string;
  /** Shown beside the icon. */
  children?: string;
}

export function CopyButton({ text, label, children }: CopyButtonProps) {
  const { notice, copy } = useCopy();
  const start = () => copy(typeof text === "string" ? text : text());
  const icon = notice === "Copied" ? <Check className="text-pass" aria-hidden /> : <Copy aria-hidden />;
  if (children === undefined) return <IconButton label={notice ?? label} icon={icon} onClick={start} />;
  return (
    <Button icon={icon} onClick={start} aria-label={notice ?? label}>
      {notice ?? children}
    </Button>
  );
}
