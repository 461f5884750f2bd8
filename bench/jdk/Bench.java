import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The workloads of package drive on the JDK: the same loops with the same numbers, which
 * are the arguments (kind, then name=value). Prints one line of JSON. Each workload is
 * repeated for WARMUP before it is measured, so that it is compiled.
 */
public class Bench {
    static final long WARMUP = Long.getLong("warmup", 3_000) * 1_000_000, MILLI = 1_000_000L, HOUR = 3_600_000_000_000L;
    static final Map<String, Long> params = new HashMap<>();
    static final Map<String, Double> values = new LinkedHashMap<>();
    static long ran, want;
    static String unfit = "";

    interface Workload { void run() throws Exception; }

    public static void main(String[] args) {
        try {
            run(args);
            System.exit(0);
        } catch (Throwable t) {
            t.printStackTrace();
            System.exit(1); // otherwise the threads of a pool keep the process alive
        }
    }

    static void run(String[] args) throws Exception {
        for (String arg : Arrays.asList(args).subList(1, args.length)) {
            String[] kv = arg.split("=");
            params.put(kv[0], Long.parseLong(kv[1]));
        }
        switch (args[0]) {
            case "execute": warmed(Bench::execute); break;
            case "submit-batch": warmed(Bench::submitBatch); break;
            case "submit-pingpong": warmed(Bench::submitPingpong); break;
            case "schedule-zero": warmed(() -> schedule(r -> 0)); break;
            case "schedule-random": warmed(() -> schedule(r -> r.nextInt((int) p("period")))); break;
            case "schedule-cancel": scheduleCancel(); break;
            case "cancel-random": warmed(Bench::cancelRandom); break;
            case "fire": warmed(Bench::fire); break;
            case "pending": pending(); break;
            case "lateness": lateness(); break;
            case "idle": idle(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        List<String> vs = new ArrayList<>();
        values.forEach((k, v) -> vs.add("\"" + k + "\":" + v));
        System.out.println("{\"values\":{" + String.join(",", vs) + "},\"ran\":" + ran + ",\"want\":" + want
            + ",\"unfit\":\"" + unfit + "\"}");
    }

    static long p(String name) { return params.get(name); }

    /**
     * Repeats a tenth of a workload for WARMUP, and then runs the whole workload twice. The second run counts; its
     * memory has been touched.
     */
    static void warmed(Workload w) throws Exception {
        Map<String, Long> full = new HashMap<>(params);
        params.computeIfPresent("tasks", (k, n) -> Math.max(1, n / 10));
        params.computeIfPresent("pending", (k, n) -> Math.max(1, n / 10));
        for (long end = System.nanoTime() + WARMUP; System.nanoTime() < end; ) w.run();
        params.putAll(full);
        w.run();
        w.run();
    }

    static long begin() {
        System.gc();
        return System.nanoTime();
    }

    static void end(long start, long n) { values.put("ns", (System.nanoTime() - start) / (double) n); }

    static void count(long r, long w) {
        ran = r;
        want = w;
    }

    static ScheduledThreadPoolExecutor scheduler() {
        ScheduledThreadPoolExecutor s = new ScheduledThreadPoolExecutor((int) p("workers"));
        s.setRemoveOnCancelPolicy(true);
        return s;
    }

    static long far(Random r) { return HOUR + (long) (r.nextDouble() * HOUR); }

    interface Numbered { void run(int i) throws Exception; }

    /** Runs a part in each of n threads, or in this thread if n is 1. */
    static void share(int n, Numbered part) throws Exception {
        if (n <= 1) {
            part.run(0);
            return;
        }
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int number = i;
            Thread t = new Thread(() -> {
                try { part.run(number); } catch (Exception e) { throw new RuntimeException(e); }
            });
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) t.join();
    }

    static void execute() throws Exception {
        int submitters = (int) p("submitters");
        long each = p("tasks") / submitters;
        AtomicLong count = new AtomicLong();
        Runnable task = count::incrementAndGet;
        ExecutorService pool = Executors.newFixedThreadPool((int) p("workers"));
        long start = begin();
        share(submitters, i -> { for (long k = 0; k < each; k++) pool.execute(task); });
        pool.shutdown();
        pool.awaitTermination(4, TimeUnit.MINUTES);
        end(start, each * submitters);
        count(count.get(), each * submitters);
    }

    @SuppressWarnings("unchecked")
    static void submitBatch() throws Exception {
        int n = (int) p("tasks");
        ExecutorService pool = Executors.newFixedThreadPool((int) p("workers"));
        Callable<Integer> task = () -> 1;
        Future<Integer>[] fs = new Future[n];
        long sum = 0, start = begin();
        for (int i = 0; i < n; i++) fs[i] = pool.submit(task);
        for (Future<Integer> f : fs) sum += f.get();
        end(start, n);
        pool.shutdown();
        count(sum, n);
    }

    static void submitPingpong() throws Exception {
        long n = p("tasks"), sum = 0;
        ExecutorService pool = Executors.newFixedThreadPool((int) p("workers"));
        Callable<Integer> task = () -> 1;
        long start = begin();
        for (long i = 0; i < n; i++) sum += pool.submit(task).get();
        end(start, n);
        pool.shutdown();
        count(sum, n);
    }

    interface Delay { long of(Random r); }

    static void schedule(Delay delay) throws Exception {
        int n = (int) p("tasks");
        CountDownLatch left = new CountDownLatch(n);
        Random r = new Random(1);
        ScheduledThreadPoolExecutor s = scheduler();
        Runnable task = left::countDown;
        long start = begin();
        for (int i = 0; i < n; i++) s.schedule(task, delay.of(r), TimeUnit.NANOSECONDS);
        left.await(4, TimeUnit.MINUTES);
        end(start, n);
        s.shutdownNow();
        count(n - left.getCount(), n);
    }

    static void fill(ScheduledThreadPoolExecutor s, long n) {
        Random r = new Random(1);
        for (long i = 0; i < n; i++) s.schedule(Bench::nothing, far(r), TimeUnit.NANOSECONDS);
    }

    static void nothing() {}

    static void scheduleCancel() throws Exception {
        int submitters = (int) p("submitters");
        long each = p("tasks") / submitters;
        ScheduledThreadPoolExecutor s = scheduler();
        fill(s, p("pending"));
        for (long end = System.nanoTime() + WARMUP; System.nanoTime() < end; ) pairs(s, submitters, each / 10);
        long start = begin();
        long canceled = pairs(s, submitters, each);
        end(start, each * submitters);
        count(canceled, each * submitters);
    }

    static long pairs(ScheduledThreadPoolExecutor s, int submitters, long each) throws Exception {
        AtomicLong canceled = new AtomicLong();
        share(submitters, i -> {
            Random r = new Random(2 + i);
            long ok = 0;
            for (long k = 0; k < each; k++)
                if (s.schedule(Bench::nothing, far(r), TimeUnit.NANOSECONDS).cancel(false)) ok++;
            canceled.addAndGet(ok);
        });
        return canceled.get();
    }

    static void cancelRandom() {
        int n = (int) p("pending");
        ScheduledThreadPoolExecutor s = scheduler();
        Random r = new Random(1);
        List<ScheduledFuture<?>> fs = new ArrayList<>(n);
        for (int i = 0; i < n; i++) fs.add(s.schedule(Bench::nothing, far(r), TimeUnit.NANOSECONDS));
        Collections.shuffle(fs, r);
        long canceled = 0, start = begin();
        for (ScheduledFuture<?> f : fs) if (f.cancel(false)) canceled++;
        end(start, n);
        s.shutdownNow();
        count(canceled, n);
    }

    static void fire() throws Exception {
        int n = (int) p("pending");
        CountDownLatch left = new CountDownLatch(n);
        ScheduledThreadPoolExecutor s = scheduler();
        Random r = new Random(1);
        Runnable task = left::countDown;
        long due = System.nanoTime() + 300 * MILLI + n * 4_000L;
        for (int i = 0; i < n; i++) {
            long late = (long) (r.nextDouble() * n * 50);
            s.schedule(task, due - System.nanoTime() + late, TimeUnit.NANOSECONDS);
        }
        if (System.nanoTime() > due) unfit = "scheduling took longer than the delay";
        System.gc();
        left.await(4, TimeUnit.MINUTES);
        end(due, n);
        s.shutdownNow();
        count(n - left.getCount(), n);
    }

    static long held() {
        for (int i = 0; i < 3; i++) System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    static void pending() throws Exception {
        ScheduledThreadPoolExecutor s = scheduler();
        s.schedule(Bench::nothing, HOUR, TimeUnit.NANOSECONDS).cancel(false);
        long before = held();
        for (int same = 0; same < 5; same++) { // the garbage of the start may take a while to collect
            long again = held();
            if (again < before) same = -1;
            before = Math.min(before, again);
        }
        fill(s, p("pending"));
        values.put("bytes", (held() - before) / (double) p("pending"));
        values.put("rss", status("VmRSS:") * 1024 / 1e6);
        values.put("peak", status("VmHWM:") * 1024 / 1e6);
    }

    static double status(String name) throws Exception { return field(Path.of("/proc/self/status"), name); }

    static double field(Path file, String name) throws Exception {
        for (String line : Files.readAllLines(file))
            if (line.startsWith(name)) return Double.parseDouble(line.substring(name.length()).trim().split("\\s+")[0]);
        return 0;
    }

    static long wakeups() throws Exception {
        long n = 0;
        try (var tasks = Files.list(Path.of("/proc/self/task"))) {
            for (Path t : (Iterable<Path>) tasks::iterator)
                try {
                    n += field(t.resolve("status"), "voluntary_ctxt_switches:");
                } catch (java.io.IOException ended) { }
        }
        return n;
    }

    static void idle() throws Exception {
        var os = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ScheduledThreadPoolExecutor s = scheduler();
        fill(s, p("pending"));
        wakeups(); // loads the classes
        System.gc();
        Thread.sleep(1000);
        long before = wakeups(), cpu = os.getProcessCpuTime();
        Thread.sleep(p("length") / MILLI);
        values.put("wakeups", (double) (wakeups() - before));
        values.put("cpu", (os.getProcessCpuTime() - cpu) / 1e6);
    }

    static void lateness() throws Exception {
        int n = (int) p("tasks");
        long period = p("period"), length = p("length");
        beat(Math.min(n, 100), Math.min(period, 10 * MILLI), WARMUP, false);
        unfit = "";
        long[] all = beat(n, period, length, p("busy") == 1);
        if (all.length < n) {
            unfit = "too few runs";
            return;
        }
        Arrays.sort(all);
        values.put("p50", all[all.length / 2] / 1e3);
        values.put("p99", all[(int) (all.length * 99L / 100)] / 1e3);
    }

    static long[] beat(int n, long period, long length, boolean busy) throws Exception {
        ScheduledThreadPoolExecutor s = scheduler();
        Random r = new Random(1);
        long start = System.nanoTime() + 300 * MILLI + n * 10_000L;
        int most = (int) (length / period) + 2;
        long[][] late = new long[n][most];
        AtomicInteger[] begun = new AtomicInteger[n];
        long[] first = new long[n];
        System.gc();
        for (int i = 0; i < n; i++) {
            int me = i;
            begun[i] = new AtomicInteger();
            first[i] = start + (long) (r.nextDouble() * period);
            s.scheduleAtFixedRate(() -> {
                long now = System.nanoTime();
                int k = begun[me].getAndIncrement();
                if (k < most) late[me][k] = Math.max(0, now - first[me] - k * period);
            }, first[i] - System.nanoTime(), period, TimeUnit.NANOSECONDS);
        }
        if (System.nanoTime() > start) unfit = "starting the tasks took longer than the first delay";
        AtomicBoolean over = new AtomicBoolean();
        int cores = busy ? Runtime.getRuntime().availableProcessors() : 0;
        for (int i = 0; i < cores; i++) new Thread(() -> spin(over)).start();
        Thread.sleep(Math.max(0, start + length - System.nanoTime()) / MILLI);
        long end = System.nanoTime();
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int runs = Math.min(begun[i].get(), most);
            for (int k = 0; k < most && first[i] + k * period < end; k++)
                all.add(k < runs ? late[i][k] : end - first[i] - k * period);
        }
        over.set(true);
        s.shutdownNow();
        s.awaitTermination(10, TimeUnit.SECONDS);
        return all.stream().mapToLong(x -> x).toArray();
    }

    static volatile long sink;

    static void spin(AtomicBoolean over) {
        long x = 1;
        while (!over.get()) for (int i = 0; i < 1000; i++) x = x * 6364136223846793005L + 1442695040888963407L;
        sink = x;
    }
}
