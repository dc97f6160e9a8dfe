import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { sessionsQuery } from "../../data/sessions.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { SessionRow } from "./session-row.tsx";

/** The browsers in which the user is signed in. */
export function SessionsCard() {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const { data: sessions, error, refetch } = useQuery(sessionsQuery(presage));
  const [asksForAll, setAsksForAll] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  const { queryKey } = sessionsQuery(presage);
  const end = useMutation({
    mutationFn: async (ids: readonly string[]) => {
      await Promise.all(ids.map((id) => presage.sessions.end(id)));
    },
    // Some may have ended though one failed.
    onSettled: async () => {
      setAsksForAll(false);
      await queryClient.invalidateQueries({ queryKey });
      // The button that was pressed is gone with its row.
      list.current?.focus();
    },
  });
  const others = sessions?.filter(({ is_current }) => !is_current) ?? [];
  const endingIds = end.isPending ? end.variables : [];

  return (
    <Card
      title="Sessions"
      hint="Browsers in which you are signed in. End any that you do not know."
      actions={
        others.length > 0 && (
          <Button size="small" onClick={() => setAsksForAll(true)}>
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
        isOpen={asksForAll}
        onClose={() => setAsksForAll(false)}
        title="End all other sessions?"
        confirmLabel="End them"
        isBusy={end.isPending}
        onConfirm={() => end.mutate(others.map(({ id }) => id))}
      >
        {others.length === 1
          ? "The other browser is signed out."
          : `The ${others.length} other browsers are signed out.`}{" "}
        You stay signed in here. API keys go on working.
      </ConfirmDialog>
    </Card>
  );
}
