import type { SessionResponse } from "@presage/sdk";
import { Monitor, Smartphone } from "lucide-react";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Time } from "../../ui/time.tsx";
import { nameBrowser } from "./name-browser.ts";

interface SessionRowProps {
  session: SessionResponse;
  isEnding: boolean;
  onEnd(): void;
}

export function SessionRow({ session, isEnding, onEnd }: SessionRowProps) {
  const { user_agent, created_at, last_seen_at, expires_at, is_current } = session;
  const browser = nameBrowser(user_agent);
  const Icon = /\bMobile\b/.test(user_agent ?? "") ? Smartphone : Monitor;
  return (
    <li className="flex items-center gap-3 border-b border-line px-4 py-2.5 last:border-b-0">
      <Icon className="size-4 shrink-0 text-ink-3" aria-hidden />
      <div className="min-w-0 flex-1">
        <p
          className="flex flex-wrap items-center gap-x-2 text-sm font-medium"
          title={user_agent ?? undefined}
        >
          <span className="truncate">{browser}</span>
          {is_current && <Badge tone="accent">This browser</Badge>}
        </p>
        <p className="flex flex-wrap gap-x-3 text-xs text-ink-3">
          <span>
            Signed in <Time at={created_at} />
          </span>
          <span>
            Last seen <Time at={last_seen_at} />
          </span>
          <span>
            Ends <Time at={expires_at} />
          </span>
        </p>
      </div>
      {!is_current && (
        <Button size="small" isBusy={isEnding} onClick={onEnd} aria-label={`End the session of ${browser}`}>
          End
        </Button>
      )}
    </li>
  );
}
