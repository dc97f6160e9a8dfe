import { LoaderCircle } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../../ui/button.tsx";

const tickMs = 100;

export function Waiting({ startedAtMs, onCancel }: { startedAtMs: number; onCancel(): void }) {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, nowMs - startedAtMs) / 1000;
  return (
    <div className="flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-2 text-sm text-ink-2">
      <LoaderCircle className="size-4 animate-spin" aria-hidden />
      <span role="status">Waiting for the model</span>
      <span aria-hidden className="flex-1 tabular-nums">
        {seconds.toFixed(1)} s
      </span>
      <Button size="small" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}
