import { useQuery } from "@tanstack/react-query";
import { exampleQuery } from "../../data/example.ts";
import { usePresage } from "../../data/use-presage.ts";
import { ExampleOffer } from "./example-offer.tsx";

/** Says that the example is loaded, and removes it. Absent without it. */
export function ExampleNote({ onRemoved }: { onRemoved?: () => void }) {
  const { data: example } = useQuery(exampleQuery(usePresage()));
  if (example === undefined || example === null) return null;
  return (
    <section
      aria-label="The example"
      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-lg border border-line bg-sunken px-4 py-2.5 text-sm text-ink-2"
    >
      <p className="min-w-0 flex-1 basis-64">
        The example is loaded: trajectories through rooms of the sandbox, and two runs on them.
      </p>
      <ExampleOffer {...(onRemoved && { onRemoved })} />
    </section>
  );
}
