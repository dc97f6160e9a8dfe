import { clsx } from "clsx";

/** Takes the place of loading content, so that the layout does not shift. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={clsx("animate-pulse rounded bg-sunken", className)} />;
}

export function SkeletonRows({ count, className = "h-10" }: { count: number; className?: string }) {
  return (
    <div role="status" className="flex flex-col gap-2 p-4">
      <span className="sr-only">Loading</span>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <Skeleton key={index} className={className} />
      ))}
    </div>
  );
}

export function ChartSkeleton() {
  return (
    <div role="status" className="flex flex-1 flex-col gap-2 px-4 pt-2.5 pb-3">
      <span className="sr-only">Loading</span>
      <div className="flex h-7 items-center">
        <Skeleton className="h-3.5 w-40" />
      </div>
      <Skeleton className="min-h-52 flex-1" />
    </div>
  );
}

/** As high as the expected rows, so that nothing moves when they arrive. */
export function SkeletonTableRows({ count, columnCount }: { count: number; columnCount: number }) {
  return (
    // Fades in late, so that a fast response causes no flicker.
    <tbody className="transition-opacity delay-150 starting:opacity-0">
      {Array.from({ length: count }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <tr key={row} className="animate-pulse">
          {Array.from({ length: columnCount }, (_, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
            <td key={column} className={cellClass}>
              {row === 0 && column === 0 && <span className="sr-only">Loading</span>}
              <div aria-hidden className="h-3 w-3/4 rounded bg-sunken" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

const cellClass = "wide h-10 border-b border-line px-3 py-1.5 first:pl-4 last:pr-4 phone:nth-[n+4]:hidden";
