import { Skeleton } from "../../../ui/skeleton.tsx";

const rows = Array.from({ length: 14 }, (_, index) => `row ${index}`);

export function TableSkeleton() {
  return (
    <div
      role="status"
      // Fades in late, so that a fast response causes no flicker.
      className="min-h-0 flex-1 overflow-hidden pt-9 transition-opacity delay-150 starting:opacity-0"
    >
      <span className="sr-only">Loading</span>
      {rows.map((row) => (
        <div key={row} className="flex h-11 items-center gap-6 border-b border-line px-4">
          <Skeleton className="h-5 w-16 rounded-full" />
          <Skeleton className="h-3 w-24" />
          <Skeleton className="h-3 w-40" />
          <Skeleton className="h-3 flex-1" />
          <Skeleton className="h-3 w-20" />
        </div>
      ))}
    </div>
  );
}
