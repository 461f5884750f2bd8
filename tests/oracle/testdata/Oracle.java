// The JDK's side of the oracle: reads programs from standard input, runs each on
// java.util.concurrent, many at a time, and prints what can be observed.
//
//   java Oracle.java MILLISECONDS_PER_TICK PROGRAMS_AT_A_TIME
//
// A program is the text that package oracle prints, followed by a line "go N", where N is
// its number. The output is the trace, with "N " before each line.
import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class Oracle {
    static long tick;

    public static void main(String[] args) throws Exception {
        warmUp();
        tick = Long.parseLong(args[0]) * 1_000_000L;
        var drivers = Executors.newFixedThreadPool(Integer.parseInt(args[1]));
        var in = new BufferedReader(new InputStreamReader(System.in));
        var lines = new ArrayList<String>();
        for (String line; (line = in.readLine()) != null; ) {
            if (!line.startsWith("go ")) {
                lines.add(line);
                continue;
            }
            String number = line.substring(3);
            var program = new ArrayList<>(lines);
            lines.clear();
            drivers.execute(() -> {
                String out;
                try {
                    out = new Run(program).go();
                } catch (Throwable t) {
                    var w = new StringWriter();
                    t.printStackTrace(new PrintWriter(w));
                    out = "broken " + w;
                }
                var b = new StringBuilder();
                for (String l : out.split("\n")) b.append(number).append(' ').append(l).append('\n');
                synchronized (System.out) {
                    System.out.print(b);
                    System.out.println(number + " .");
                    System.out.flush();
                }
            });
        }
        drivers.shutdown();
    }

    // Loads and compiles what the programs use, so that the first of them is not late.
    static void warmUp() throws Exception {
        tick = 100_000L;
        var program = List.of("scheduled 1 0 unbounded abort 3600 false true true 20", "0 rate 0 1 0 3 stubborn",
            "1 schedule 1 1 1 0 fail", "2 submit 2 1 0 0 ok", "2 execute 3 1 0 0 ok", "9 stats 0 0 0 0 ok",
            "10 cancel 0 0 0 0 ok", "11 shutdown 0 0 0 0 ok");
        var plain = new ArrayList<String>(List.of("pool 1 2 bounded:1 callerruns 3600 false true true 5"));
        for (int i = 0; i < 6; i++) plain.add("0 submit " + i + " 1 0 0 ok");
        plain.add("3 shutdownnow 0 0 0 0 ok");
        for (int i = 0; i < 100; i++) {
            new Run(program).go();
            new Run(plain).go();
        }
    }

    record Event(int at, String text) {}

    static final class Run {
        final List<String[]> steps = new ArrayList<>();
        final String[] head;
        final boolean scheduled;
        final long start;
        final Map<Integer, Future<?>> futures = Collections.synchronizedMap(new TreeMap<>());
        final Map<Integer, Runnable> things = new ConcurrentHashMap<>();
        final Map<Object, Integer> of = Collections.synchronizedMap(new IdentityHashMap<>());
        final List<Event> events = new ArrayList<>();
        final AtomicIntegerArray hooks = new AtomicIntegerArray(3);
        final List<Integer> dropped = Collections.synchronizedList(new ArrayList<>());
        final AtomicInteger runs = new AtomicInteger();
        final AtomicInteger skipped = new AtomicInteger(); // canceled tasks that a worker took
        final ThreadLocal<Boolean> skips = new ThreadLocal<>();
        final Map<Object, int[]> ranks = Collections.synchronizedMap(new IdentityHashMap<>());
        volatile String reject;
        final ThreadPoolExecutor pool;

        Run(List<String> program) {
            head = program.get(0).split(" ");
            for (String l : program.subList(1, program.size())) steps.add(l.split(" "));
            scheduled = head[0].equals("scheduled");
            int core = Integer.parseInt(head[1]), max = Integer.parseInt(head[2]);
            reject = head[4];
            RejectedExecutionHandler handler = handler();
            long keep = Long.parseLong(head[5]) * tick;
            ThreadFactory quiet = r -> {
                var t = new Thread(r);
                t.setUncaughtExceptionHandler((thread, e) -> {});
                t.setDaemon(true);
                return t;
            };
            if (scheduled) {
                var p = new ScheduledThreadPoolExecutor(core, quiet, handler) {
                    @Override protected void beforeExecute(Thread t, Runnable r) { before(r); }
                    @Override protected void afterExecute(Runnable r, Throwable t) { after(); }
                    @Override protected void terminated() { hooks.incrementAndGet(2); }
                };
                p.setKeepAliveTime(keep, TimeUnit.NANOSECONDS);
                p.setRemoveOnCancelPolicy(true); // as ours
                p.setExecuteExistingDelayedTasksAfterShutdownPolicy(head[7].equals("true"));
                p.setContinueExistingPeriodicTasksAfterShutdownPolicy(head[8].equals("true"));
                pool = p;
            } else {
                BlockingQueue<Runnable> queue = head[3].equals("handoff") ? new SynchronousQueue<>()
                    : head[3].equals("prioritized")
                        ? new PriorityBlockingQueue<>(11, (a, b) -> Arrays.compare(ranks.get(a), ranks.get(b)))
                    : head[3].startsWith("bounded:") ? new ArrayBlockingQueue<>(Integer.parseInt(head[3].substring(8)))
                    : new LinkedBlockingQueue<>();
                pool = new ThreadPoolExecutor(core, max, keep, TimeUnit.NANOSECONDS, queue, quiet, handler) {
                    @Override protected void beforeExecute(Thread t, Runnable r) { before(r); }
                    @Override protected void afterExecute(Runnable r, Throwable t) { after(); }
                    @Override protected void terminated() { hooks.incrementAndGet(2); }
                };
            }
            if (head[6].equals("true")) pool.allowCoreThreadTimeOut(true);
            start = System.nanoTime();
        }

        RejectedExecutionHandler handler() {
            RejectedExecutionHandler policy = switch (reject) {
                case "callerruns" -> new ThreadPoolExecutor.CallerRunsPolicy();
                case "discard" -> new ThreadPoolExecutor.DiscardPolicy();
                case "discardoldest" -> new ThreadPoolExecutor.DiscardOldestPolicy();
                default -> new ThreadPoolExecutor.AbortPolicy();
            };
            boolean silent = reject.equals("discard");
            return (r, p) -> {
                // A pool of ours that is shut down returns an error with every policy but
                // discard; the JDK discards the task.
                if (p.isShutdown() && !silent) throw new RejectedExecutionException();
                policy.rejectedExecution(r, p);
            };
        }

        // Ours does not call the hooks for a task that was canceled in the queue.
        void before(Runnable r) {
            boolean skip = r instanceof Future<?> f && f.isCancelled();
            skips.set(skip);
            if (skip) skipped.incrementAndGet();
            else hooks.incrementAndGet(0);
        }

        void after() { if (!skips.get()) hooks.incrementAndGet(1); }

        String go() throws Exception {
            for (String[] s : steps) {
                sleepUntil(Integer.parseInt(s[0]));
                int[] n = Arrays.stream(s, 2, 6).mapToInt(Integer::parseInt).toArray();
                step(s[1], n[0], n[1], n[2], n[3], s[6]);
            }
            sleepUntil(Integer.parseInt(head[9]));
            note("stats " + stats());
            drop(pool.shutdownNow());
            pool.awaitTermination(1, TimeUnit.HOURS);
            return trace();
        }

        void step(String op, int task, int a, int b, int c, String kind) throws InterruptedException {
            var sched = scheduled ? (ScheduledThreadPoolExecutor) pool : null;
            try {
                switch (op) {
                    case "submit" -> {
                        if (scheduled) { // execute wraps the task in another
                            keep(task, sched.submit(() -> { body(task, a, kind); return null; }));
                            return;
                        }
                        var f = new FutureTask<Void>(() -> { body(task, a, kind); return null; });
                        keep(task, f, f);
                        ranks.put(f, new int[] {b, ranks.size()});
                        pool.execute(f);
                    }
                    case "execute" -> {
                        Runnable r = () -> {
                            try {
                                body(task, a, kind);
                            } catch (IllegalStateException e) {
                                throw e;
                            } catch (Exception e) {
                                // An error of a plain task is no panic in ours.
                            }
                        };
                        keep(task, r, null);
                        ranks.put(r, new int[] {0, ranks.size()});
                        try {
                            pool.execute(r);
                        } catch (IllegalStateException e) {
                            // CallerRuns has run the task, and ours reports the panic.
                        }
                    }
                    case "schedule" -> keep(task, sched.schedule(
                        () -> { body(task, a, kind); return null; }, b * tick, TimeUnit.NANOSECONDS));
                    case "rate" -> keep(task, sched.scheduleAtFixedRate(
                        () -> quietly(task, a, kind), b * tick, c * tick, TimeUnit.NANOSECONDS));
                    case "delay" -> keep(task, sched.scheduleWithFixedDelay(
                        () -> quietly(task, a, kind), b * tick, c * tick, TimeUnit.NANOSECONDS));
                    case "cancel", "abandon" -> {
                        Future<?> f = futures.get(task);
                        boolean done = f != null && f.cancel(op.equals("cancel"));
                        // Ours removes a canceled task from the queue at once.
                        if (done && !scheduled) pool.remove((Runnable) f);
                        note(op + " " + task + " " + done);
                    }
                    case "remove" -> {
                        Runnable r = things.get(task);
                        boolean done = r != null && pool.remove(r);
                        // Ours completes the future of a task that it removes.
                        if (done && r instanceof Future<?> f) f.cancel(false);
                        note("remove " + task + " " + done);
                    }
                    case "setcore" -> note("setcore " + tuned(() -> pool.setCorePoolSize(a)));
                    case "setmax" -> note("setmax " + tuned(() -> pool.setMaximumPoolSize(a)));
                    case "prestart" -> {
                        boolean did = pool.prestartCoreThread();
                        if (!inexactWorkers()) note("prestart " + did);
                    }
                    case "prestartall" -> {
                        int did = pool.prestartAllCoreThreads();
                        if (!inexactWorkers()) note("prestartall " + did);
                    }
                    case "setreject" -> {
                        reject = List.of("abort", "callerruns", "discard", "discardoldest").get(a);
                        pool.setRejectedExecutionHandler(handler());
                    }
                    case "invokeall", "invokeany" -> {
                        var t = new Thread(() -> invoke(op, task, a, b, c, kind));
                        t.setDaemon(true);
                        t.start();
                    }
                    case "shutdown" -> pool.shutdown();
                    case "shutdownnow" -> drop(pool.shutdownNow());
                    case "setdelayed" -> sched.setExecuteExistingDelayedTasksAfterShutdownPolicy(a == 0);
                    case "setperiodic" -> sched.setContinueExistingPeriodicTasksAfterShutdownPolicy(a == 0);
                    case "stats" -> {
                        TimeUnit.NANOSECONDS.sleep(tick); // until the counters are up to date
                        note("stats " + stats());
                    }
                    default -> throw new IllegalArgumentException(op);
                }
            } catch (RejectedExecutionException e) {
                note("rejected " + task);
            }
        }

        boolean tuned(Runnable change) {
            try {
                change.run();
                return true;
            } catch (IllegalArgumentException e) {
                return false;
            }
        }

        void body(int task, int ticks, String kind) throws Exception {
            runs.incrementAndGet();
            note("start " + task);
            long until = System.nanoTime() + ticks * tick;
            for (long left; (left = until - System.nanoTime()) > 0; ) {
                try {
                    TimeUnit.NANOSECONDS.sleep(left);
                } catch (InterruptedException e) {
                    if (!kind.startsWith("stubborn")) {
                        note("interrupted " + task);
                        throw e;
                    }
                }
            }
            note("end " + task);
            switch (kind) {
                case "fail", "stubbornfail" -> throw new Exception("body failed");
                case "panic" -> throw new IllegalStateException("body failed");
                case "cancelself" -> {
                    Future<?> f = futures.get(task);
                    note("cancelself " + task + " " + (f != null && f.cancel(true)));
                }
                case "spawn" -> {
                    int child = 1000 + task;
                    Runnable r = () -> {
                        try {
                            body(child, 2, "ok");
                        } catch (Exception e) {
                        }
                    };
                    keep(child, r, null);
                    ranks.put(r, new int[] {0, ranks.size()});
                    try {
                        pool.execute(r);
                    } catch (RejectedExecutionException e) {
                        note("rejected " + child);
                    }
                }
                case "close" -> pool.shutdown();
                case "stop" -> drop(pool.shutdownNow());
                default -> {}
            }
        }

        void invoke(String op, int task, int a, int b, int c, String kind) {
            var all = new ArrayList<Callable<Integer>>();
            for (int n = 0; n < c; n++) {
                int i = n, id = 100 * (1 + task) + i;
                String one = kind.equals("fail") == (i == 0) ? "stubbornfail"
                    : op.equals("invokeany") && head[4].equals("abort") ? "ok" : "stubborn";
                all.add(() -> { body(id, a + i, one); return i; });
            }
            try {
                if (op.equals("invokeany")) {
                    note("invokeany " + task + " returns " + pool.invokeAny(all, b * tick, TimeUnit.NANOSECONDS));
                    return;
                }
                var endings = new ArrayList<String>();
                for (Future<?> f : pool.invokeAll(all, b * tick, TimeUnit.NANOSECONDS)) endings.add(ending(f));
                note("invokeall " + task + " " + endings.toString().replace(",", ""));
            } catch (TimeoutException e) {
                note("invokeany " + task + " times out");
            } catch (RejectedExecutionException e) {
                note("rejected " + task);
            } catch (ExecutionException e) {
                note("invokeany " + task + " fails");
            } catch (InterruptedException e) {
                note("invoke " + task + " interrupted");
            }
        }

        void quietly(int task, int ticks, String kind) {
            try {
                body(task, ticks, kind);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }

        void keep(int task, Future<?> f) { keep(task, (Runnable) f, f); }

        void keep(int task, Runnable r, Future<?> f) {
            things.put(task, r);
            of.put(r, task);
            if (f != null) futures.put(task, f);
        }

        void drop(List<Runnable> rs) {
            for (Runnable r : rs) {
                if (r instanceof Future<?> f && f.isCancelled()) continue; // ours returns no canceled tasks
                Integer task = of.get(r);
                if (task == null && hasBulk()) continue; // may be canceled; see hasBulk in program.go
                dropped.add(task == null ? -1 : task);
            }
        }

        String stats() {
            String s = pool.isTerminated() ? "terminated" : pool.isShutdown() ? "shutdown" : "running";
            s += " active=" + pool.getActiveCount();
            if (!hasBulk()) {
                s += " queued=" + pool.getQueue().size();
                s += " runs=" + (pool.getCompletedTaskCount() - skipped.get());
            }
            if (!scheduled && !head[3].equals("prioritized") && !hasBulk()) {
                var ids = new ArrayList<Integer>();
                for (Runnable r : pool.getQueue()) ids.add(of.getOrDefault(r, 0));
                s += " waiting=" + ids.toString().replace(",", "");
            }
            if (inexactWorkers() || scheduled && pool.isShutdown()) return s; // see stats in ours.go
            return s + " size=" + pool.getPoolSize() + " largest=" + pool.getLargestPoolSize();
        }

        // As inexactWorkers in program.go.
        boolean inexactWorkers() {
            int keep = Integer.parseInt(head[5]);
            boolean periodic = steps.stream().anyMatch(step -> step[1].equals("rate") || step[1].equals("delay"));
            return periodic || scheduled && keep > 0 && keep < 3600;
        }

        // As hasBulk in program.go.
        boolean hasBulk() {
            return steps.stream().anyMatch(step -> step[1].startsWith("invoke"));
        }

        String trace() {
            if (hasBulk()) {
                hooks.set(0, 0);
                hooks.set(1, 0);
            }
            var b = new StringBuilder();
            synchronized (events) {
                events.sort(Comparator.comparingInt(Event::at).thenComparing(Event::text));
                for (Event e : events) b.append(e.at).append(' ').append(e.text).append('\n');
            }
            if (scheduled) Collections.sort(dropped);
            b.append("dropped ").append(dropped.toString().replace(",", "")).append('\n');
            b.append("hooks ").append(hooks.toString().replace(",", "")).append('\n');
            futures.forEach((id, f) -> b.append("future ").append(id).append(' ').append(ending(f)).append('\n'));
            b.append("runs ").append(runs.get()).append('\n');
            return b.toString();
        }

        String ending(Future<?> f) {
            if (f.isCancelled()) return "canceled";
            if (!f.isDone()) return "pending";
            try {
                f.get();
                return "succeeded";
            } catch (ExecutionException e) {
                return "failed";
            } catch (InterruptedException e) {
                return "interrupted";
            }
        }

        void note(String text) {
            int at = (int) Math.floor((System.nanoTime() - start) / (double) tick + 0.25);
            synchronized (events) {
                events.add(new Event(at, text));
            }
        }

        void sleepUntil(int at) throws InterruptedException {
            Thread.interrupted(); // clears the interrupt of a task that canceled itself in CallerRuns
            for (long left; (left = start + at * tick - System.nanoTime()) > 0; ) TimeUnit.NANOSECONDS.sleep(left);
        }
    }
}
