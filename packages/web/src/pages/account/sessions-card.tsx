import type { SessionResponse } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Monitor, Smartphone } from "lucide-react";
import { useRef, useState } from "react";
import { sessionsQuery, useEndSessions } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";

export function SessionsCard() {
  const presage = usePresage();
  const { data: sessions, error, refetch } = useQuery(sessionsQuery(presage));
  const [confirmsAll, setConfirmsAll] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  const end = useEndSessions({
    onEnded: () => setConfirmsAll(false),
    // The pressed button is gone with its row.
    onRefreshed: () => list.current?.focus(),
  });
  const others = sessions?.filter(({ is_current }) => !is_current) ?? [];
  const endingIds = end.isPending ? end.variables : [];

  return (
    <Card
      title="Sessions"
      hint="Browsers where you are signed in. End any that you do not recognise."
      actions={
        others.length > 0 && (
          <Button size="small" onClick={() => setConfirmsAll(true)}>
            End all others
          </Button>
        )
      }
    >
      {error !== null && (
        <div className="p-4">
          <ErrorNotice error={error} onRetry={refetch} />
        </div>
      )}
      {end.error !== null && (
        <div className="p-4">
          <ErrorNotice error={end.error} />
        </div>
      )}
      {sessions === undefined && error === null && <SkeletonRows count={2} className="h-12" />}
      {sessions !== undefined && (
        <ul ref={list} tabIndex={-1} aria-label="Sessions" className="outline-none">
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              isEnding={endingIds.includes(session.id)}
              onEnd={() => end.mutate([session.id])}
            />
          ))}
        </ul>
      )}
      <ConfirmDialog
        isOpen={confirmsAll}
        onClose={() => setConfirmsAll(false)}
        title="End all other sessions?"
        confirmLabel="End sessions"
        isBusy={end.isPending}
        onConfirm={() => end.mutate(others.map(({ id }) => id))}
      >
        {others.length === 1
          ? "The other browser will be signed out."
          : `${others.length} other browsers will be signed out.`}{" "}
        You stay signed in here, and API keys keep working.
      </ConfirmDialog>
    </Card>
  );
}

interface SessionRowProps {
  session: SessionResponse;
  isEnding: boolean;
  onEnd(): void;
}

function SessionRow({ session, isEnding, onEnd }: SessionRowProps) {
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
            Expires <Time at={expires_at} />
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

const browsers = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|CriOS|HeadlessChrome|Chromium)\//],
  ["Safari", /\bSafari\//],
] as const;

const systems = [
  ["Android", /\bAndroid\b/],
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b|\bMacintosh\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
] as const;

/** “Firefox on Linux”. Many browsers also claim to be others, so the order of the lists matters. */
export function nameBrowser(userAgent: string | null): string {
  if (userAgent === null || userAgent.trim() === "") return "Unknown browser";
  const browser = browsers.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const system = systems.find(([, pattern]) => pattern.test(userAgent))?.[0];
  if (browser === undefined) return system === undefined ? userAgent : `Browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}
