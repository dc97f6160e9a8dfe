import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate, useRouter } from "@tanstack/react-router";
import { FlaskConical, Trash2 } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../data/client.ts";
import { exampleQuery, useLoadExample, useRemoveExample } from "../data/example.ts";
import { type ButtonProps, buttonClass } from "../ui/button.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { AllowedButton } from "./allowed.tsx";

/** Loads an example with one click, so that an empty Presage has something to show, and removes it with another. */
export function ExampleOffer({
  onRemoved,
  variant,
}: {
  /** Gets the ids of the example's runs. */
  onRemoved?: (runIds: readonly string[]) => void;
  /** The look of the button that loads the example. */
  variant?: ButtonProps["variant"];
}) {
  const presage = usePresage();
  const navigate = useNavigate();
  const [isRemoving, setRemoving] = useState(false);
  const { data: example } = useQuery(exampleQuery(presage));
  const { pathname } = useLocation();
  const router = useRouter();
  const load = useLoadExample({
    onSuccess({ runIds }) {
      // A user who has left the page meanwhile is not taken away.
      if (router.state.location.pathname === pathname)
        void navigate({ to: "/compare", search: { runs: runIds.join(",") } });
    },
  });
  const remove = useRemoveExample({
    onSuccess() {
      setRemoving(false);
      onRemoved?.(example?.runIds ?? []);
    },
  });
  // Offers nothing until it is known whether the example is loaded.
  if (example === undefined) return null;
  const failure = remove.error !== null && <ErrorNotice error={remove.error} />;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {example === null || load.isPending ? (
          <AllowedButton
            needs="evaluate"
            variant={variant}
            icon={<FlaskConical aria-hidden />}
            isBusy={load.isPending}
            onClick={() => load.mutate()}
          >
            {load.isPending ? "Loading the example…" : "Open the example"}
          </AllowedButton>
        ) : (
          <>
            {example.runIds.length >= 2 && (
              <Link
                to="/compare"
                search={{ runs: example.runIds.slice(0, 5).join(",") }}
                className={buttonClass({})}
              >
                Compare the example’s runs
              </Link>
            )}
            <AllowedButton
              needs="evaluate"
              icon={<Trash2 aria-hidden />}
              isBusy={remove.isPending}
              onClick={() => (example.hasOtherRuns ? setRemoving(true) : remove.mutate(example.datasetId))}
            >
              Remove the example
            </AllowedButton>
          </>
        )}
      </div>
      {load.error !== null && <ErrorNotice error={load.error} />}
      {!isRemoving && failure}
      <ConfirmDialog
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        title="Remove the example"
        confirmLabel="Remove"
        isBusy={remove.isPending}
        onConfirm={() => example !== null && remove.mutate(example.datasetId)}
      >
        <p>Its dataset has runs of yours. They are deleted with it; their evaluation results stay.</p>
        {failure}
      </ConfirmDialog>
    </div>
  );
}

/** States that the example is loaded, and offers to remove it. Renders nothing without the example. */
export function ExampleNote({ onRemoved }: { onRemoved?: (runIds: readonly string[]) => void }) {
  const { data: example } = useQuery(exampleQuery(usePresage()));
  if (example === undefined || example === null) return null;
  return (
    <section
      aria-label="The example"
      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-lg border border-line bg-sunken px-4 py-2.5 text-sm text-ink-2"
    >
      <p className="min-w-0 flex-1 basis-64">
        The example is loaded: trajectories through rooms of the sandbox, two runs on them, and a world of
        them.
      </p>
      <ExampleOffer {...(onRemoved && { onRemoved })} />
    </section>
  );
}
