package io.softdpu.junit;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.core.resource.ResourceTracking;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Card of one test: machines on the host, DPU and target side over one fabric folder, or
 * {@linkplain SoftDpuExtension.Builder#separateFolders several}, opened when they are first asked
 * for and closed after the test. A parameter of a test method, or of a method with
 * {@code @BeforeEach} or {@code @AfterEach}, of a class with {@link SoftDpuTest} or {@link
 * SoftDpuExtension}.
 *
 * <p>After the test, and after its {@code @AfterEach} methods, are closed: first what was given to
 * {@link #closeAfterTest}, last first, then the engine, the devices and the machines. Any thread of
 * the test, except {@link #engine()}.
 */
public final class SoftDpu {
    private final CardSettings settings;
    private final Topology topology;
    private final Path folder;
    private final String testClass;
    private final Thread thread = Thread.currentThread();
    private final ResourceTracking tracking;
    private final @Nullable Sanitizer sanitizer;
    private final List<SanitizerReport> reports = new CopyOnWriteArrayList<>();
    private final Map<Side, Machine> machines = new EnumMap<>(Side.class);
    private final Map<Side, Device> devices = new EnumMap<>(Side.class);
    private @Nullable Representor representor;
    private @Nullable ProgressEngine engine;

    /** Opened here: machines, devices, the engine; first opened first. */
    private final Deque<AutoCloseable> own = new ArrayDeque<>();

    private final Deque<AutoCloseable> ofTest = new ArrayDeque<>();
    private final Children children;

    /**
     * Begins a test on the calling thread.
     *
     * @param folder that the processes of the test share, with their fabric folders
     * @param testClass prefix of the names of the classes of the test, for the place of a leak
     */
    SoftDpu(CardSettings settings, Path folder, String testClass) {
        this.settings = settings;
        this.topology = settings.topology();
        this.folder = folder;
        this.testClass = testClass;
        this.children = new Children(settings, folder);
        this.tracking = ResourceTracking.start();
        this.sanitizer = settings.sanitized() ? Sanitizer.startForThread(settings.seed()) : null;
        if (sanitizer != null) {
            sanitizer.setListener(reports::add);
        }
    }

    /** The machine of the host. */
    public Machine host() {
        return machine(Side.HOST);
    }

    /** The machine of the DPU. */
    public Machine dpu() {
        return machine(Side.DPU);
    }

    /** The machine of the target. */
    public Machine target() {
        return machine(Side.TARGET);
    }

    /**
     * The machine of a side; the same one each time.
     *
     * @throws DpuException as {@link Machine.Builder#open()}
     */
    public synchronized Machine machine(Side side) {
        Machine open = machines.get(Objects.requireNonNull(side, "side"));
        if (open == null) {
            open = Machine.builder(side).topology(topology).fabricFolder(fabricFolder(side)).open();
            machines.put(side, open);
            own.push(open);
        }
        return open;
    }

    /**
     * The {@linkplain #device(Side) default device} of the host; {@code pf0} of the built-in
     * topology.
     */
    public Device hostDevice() {
        return device(Side.HOST);
    }

    /**
     * The {@linkplain #device(Side) default device} of the DPU; {@code p0} of the built-in
     * topology.
     */
    public Device dpuDevice() {
        return device(Side.DPU);
    }

    /**
     * The {@linkplain #device(Side) default device} of the target; {@code t0} of the built-in
     * topology.
     */
    public Device targetDevice() {
        return device(Side.TARGET);
    }

    /**
     * The default device of a side: the first of its {@linkplain Machine#devices() devices}; the
     * same one each time. Another is opened by the test: {@code
     * card.closeAfterTest(card.dpu().findDevice("p1").open())}.
     *
     * @throws IllegalStateException if the topology has no device on this side
     */
    public synchronized Device device(Side side) {
        Device open = devices.get(Objects.requireNonNull(side, "side"));
        if (open == null) {
            DeviceInfo first =
                    machine(side).devices().stream()
                            .findFirst()
                            .orElseThrow(() ->
                                    new IllegalStateException(
                                            Text.format(
                                                    "side has no device: side=%s, topology=%s,"
                                                            + " expected=1 or more",
                                                    side, topology)));
            open = first.open();
            devices.put(side, open);
            own.push(open);
        }
        return open;
    }

    /**
     * The representor of the {@linkplain #hostDevice() host's device} on the DPU, for a Comm
     * Channel server; {@code hpf0} of the built-in topology.
     *
     * @throws DpuException NOT_FOUND if the port of the host's device is not the {@linkplain
     *     #dpuDevice() DPU's device}
     */
    public synchronized Representor representor() {
        Representor open = representor;
        if (open == null) {
            DeviceInfo host = hostDevice().info();
            Device port = dpuDevice();
            open = port.findRepresentor(host.pciAddress().longForm()).open();
            representor = open;
            own.push(open);
        }
        return open;
    }

    /**
     * The engine of the test's thread; the same one each time. Another thread, and a test with a
     * timeout in a separate thread, creates an engine of its own.
     *
     * @throws IllegalStateException from another thread
     */
    public synchronized ProgressEngine engine() {
        if (!Thread.currentThread().equals(thread)) {
            throw new IllegalStateException(
                    Text.format(
                            "engine is of another thread: thread=%s, expected=%s; call"
                                    + " ProgressEngine.create() on this thread",
                            Thread.currentThread().getName(), thread.getName()));
        }
        ProgressEngine open = engine;
        if (open == null) {
            open = ProgressEngine.create();
            engine = open;
        }
        return open;
    }

    /**
     * Closes an object after the test, before those that were given earlier.
     *
     * @return the object
     */
    public synchronized <T extends AutoCloseable> T closeAfterTest(T object) {
        ofTest.push(Objects.requireNonNull(object, "object"));
        return object;
    }

    /**
     * The fabric folder of this test, for programs that take it as an option: that of all sides
     * without one of their own.
     */
    public Path fabricFolder() {
        return SharedFolder.fabricOf(folder);
    }

    /**
     * The fabric folder of a side: {@link #fabricFolder()}, or one of {@linkplain
     * SoftDpuExtension.Builder#separateFolders its own}, which the first program that opens it
     * makes.
     */
    public Path fabricFolder(Side side) {
        return settings.fabricFolder(folder, Objects.requireNonNull(side, "side"));
    }

    /** The topology of the card. */
    public Topology topology() {
        return topology;
    }

    /**
     * Runs a method of the test in another process, on the class path of this one: {@code
     * card.start(CopyTest::serve)}, or {@code card.start(other -> serve(other, name))}. The card of
     * the other process has the same fabric folders, topology and seed, so that which side it is is
     * its choice: {@code other.dpu()}.
     *
     * @param program a static method, or a lambda whose captured variables are serializable
     * @return the running process; it ends with the test at the latest
     * @throws IllegalArgumentException if the program cannot be serialized
     */
    public ChildJvm start(ChildProgram program) {
        return children.start(Objects.requireNonNull(program, "program"), testClass);
    }

    /**
     * Runs a main class in another process, on the class path of this one. It finds {@link
     * #fabricFolder()} by {@code SOFTDPU_FABRIC}, and so does {@link Machine#open}.
     *
     * @param mainClass with a main method
     * @param arguments of the main method
     * @return the running process; it ends with the test at the latest
     */
    public ChildJvm startMain(Class<?> mainClass, String... arguments) {
        return children.startMain(
                fabricFolder(), Objects.requireNonNull(mainClass, "mainClass"), arguments);
    }

    /**
     * Runs a main class in another process, as {@link #startMain(Class, String...)}, which finds
     * the {@linkplain #fabricFolder(Side) fabric folder of a side}.
     */
    public ChildJvm startMain(Side side, Class<?> mainClass, String... arguments) {
        return children.startMain(
                fabricFolder(side), Objects.requireNonNull(mainClass, "mainClass"), arguments);
    }

    /**
     * Ends the test on its thread: kills the processes, closes everything, and looks for what is
     * left.
     *
     * @param failed whether the test has failed already: objects that it had no chance to close are
     *     no finding then
     * @return findings, a line or more each; empty if all is right
     */
    synchronized Findings end(boolean failed) {
        Findings findings = new Findings(settings.repetition());
        children.end(findings);
        List<AutoCloseable> all = new ArrayList<>(ofTest);
        if (engine != null) {
            all.add(engine);
        }
        all.addAll(own);
        boolean leftOpen = false;
        for (AutoCloseable object : all) {
            leftOpen |= !close(object, failed, findings);
        }
        if (sanitizer != null) {
            sanitizer.close();
        }
        reports.forEach(findings::add);
        tracking.close();
        if (!failed) {
            new Leaks(tracking, testClass, leftOpen).find(settings.leakDeadline(), findings);
        }
        return findings;
    }

    private static boolean close(AutoCloseable object, boolean failed, Findings findings) {
        try {
            object.close();
            return true;
        } catch (Exception e) {
            if (!failed) {
                findings.add("not closed: " + Reason.of(e), e);
            }
            return false;
        }
    }

    /** What the processes have printed, for the report of a failure. */
    List<String> outputs() {
        return children.outputs();
    }

    /** The topology, the folder, and the seed. */
    @Override
    public String toString() {
        return Text.format(
                "card of topology=%s, fabricFolder=%s, %s",
                topology, fabricFolder(), settings.repetition());
    }
}
