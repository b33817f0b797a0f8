package io.softdpu.junit;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/**
 * JUnit extension that gives each test a {@link SoftDpu} and checks it at the end. {@link
 * SoftDpuTest} registers it with its defaults; a field registers one with settings:
 *
 * {@snippet :
 * @RegisterExtension
 * static final SoftDpuExtension CARD = SoftDpuExtension.builder().topology(MY_CARD).seed(42).build();
 * }
 *
 * <p>A test fails after its last {@code @AfterEach} method if
 *
 * <ul>
 *   <li>the sanitizer has found a mistake ({@link io.softdpu.core.execution.SanitizerReport});
 *   <li>an object is left open: what depends on a device, as named by the device; and each
 *       descriptor, mapping, thread, exported and imported region that softdpu has created for a
 *       thread of the test, with the call and the line that created it. Resources that the test has
 *       created without softdpu are not looked at. A test that has failed already is not searched;
 *   <li>a process that it has {@linkplain SoftDpu#start started} has failed by itself, and the test
 *       has not waited for its exit code.
 * </ul>
 *
 * The message names the seed. A failure of the test itself gets the seed and the output of its
 * processes as a suppressed exception. {@code SOFTDPU_SANITIZE=SEED} in the environment repeats a
 * run, and replaces random and fixed seeds.
 *
 * <p>The sanitizer and the search for leaks apply to the thread of the test and to threads that are
 * created by it, so that tests may run in parallel in one JVM. Threads that exist before, such as
 * those of a shared pool, and objects in fields that are initialized before {@code @BeforeEach},
 * are not included. Any thread.
 */
public final class SoftDpuExtension
        implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    private static final String PREFIX = "softdpu-junit-";

    private static final ExtensionContext.Namespace CARDS =
            ExtensionContext.Namespace.create(SoftDpuExtension.class);

    /** Null if the settings are those of the annotation. */
    private final @Nullable Builder builder;

    /** Creates the extension for {@link SoftDpuTest}, with the settings of that annotation. */
    public SoftDpuExtension() {
        this.builder = null;
    }

    private SoftDpuExtension(Builder builder) {
        this.builder = builder;
    }

    /** Creates a builder with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** A card, and the folder that is removed with it. */
    private record Running(SoftDpu card, SharedFolder folder) {}

    @Override
    public void beforeEach(ExtensionContext context) {
        CardSettings settings = settings(context);
        SharedFolder folder = SharedFolder.create(PREFIX);
        SoftDpu card =
                new SoftDpu(settings, folder.root(), context.getRequiredTestClass().getName());
        context.getStore(CARDS).put(Running.class, new Running(card, folder));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Running running = running(context);
        if (running == null) {
            return; // beforeEach has failed
        }
        Throwable failure = context.getExecutionException().orElse(null);
        Findings findings;
        DpuException left;
        try {
            findings = running.card.end(failure != null);
        } finally {
            left = remove(running.folder);
        }
        if (left != null) {
            findings.add(Reason.of(left), left);
        }
        if (failure != null && !(failure instanceof TestAbortedException)) {
            failure.addSuppressed(new TestDetails(running.card));
        }
        if (!findings.isEmpty()) {
            throw findings.toFailure();
        }
    }

    /** Removes it; why it is left, if it is. */
    private static @Nullable DpuException remove(SharedFolder folder) {
        try {
            folder.close();
            return null;
        } catch (DpuException e) {
            return e;
        }
    }

    private CardSettings settings(ExtensionContext context) {
        if (builder != null) {
            return builder.settings();
        }
        Builder annotated = new Builder();
        AnnotationSupport.findAnnotation(context.getElement(), SoftDpuTest.class)
                .or(() ->
                        AnnotationSupport.findAnnotation(
                                context.getRequiredTestClass(),
                                SoftDpuTest.class,
                                context.getEnclosingTestClasses()))
                .ifPresent(annotation ->
                        annotated
                                .sanitized(annotation.sanitized())
                                .separateFolders(annotation.separateFolders()));
        return annotated.settings();
    }

    private static @Nullable Running running(ExtensionContext context) {
        return context.getStore(CARDS).get(Running.class, Running.class);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == SoftDpu.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Running running = running(context);
        if (running == null) {
            throw new ParameterResolutionException(
                    Text.format(
                            "a card belongs to one test: parameter of=%s, expected=a test method,"
                                    + " or one with @BeforeEach or @AfterEach",
                            parameter.getDeclaringExecutable()));
        }
        return running.card;
    }

    /** Details of a failed test: the seed, and the output of its processes. Thrown nowhere. */
    private static final class TestDetails extends Exception {
        private static final long serialVersionUID = 1L;

        TestDetails(SoftDpu card) {
            super(card + String.join("", card.outputs()), null, false, false);
        }
    }

    /** Builder of an extension. Belongs to one thread. */
    public static final class Builder {
        private Topology topology = Topology.builtin();
        private List<Side> separateFolders = List.of();
        private boolean sanitized = true;
        private @Nullable Long seed;
        private Duration leakDeadline = Duration.ofSeconds(10);
        private List<String> childOptions = List.of();

        private Builder() {}

        /** Sets the topology of the card, instead of the built-in one. */
        public Builder topology(Topology topology) {
            this.topology = Objects.requireNonNull(topology, "topology");
            return this;
        }

        /**
         * Gives each of these sides a fabric folder of its own; none by default, so that all sides
         * are in one. What is in different folders is reached over the network alone, as on another
         * machine: by RDMA, with a provider that connects through it, but not by PCI or the Comm
         * Channel. Each function of the card of each test gets an IPv4 address of its own in
         * 127.128.0.0/9, in place of that of the topology, so that such tests may run in parallel.
         *
         * <p>{@code separateFolders(Side.TARGET)} leaves host and DPU together, as in one machine.
         */
        public Builder separateFolders(Side... sides) {
            this.separateFolders = List.of(sides);
            return this;
        }

        /**
         * Sets whether the {@linkplain Sanitizer sanitizer} is on; true by default. One that the
         * environment turns on stays on.
         */
        public Builder sanitized(boolean sanitized) {
            this.sanitized = sanitized;
            return this;
        }

        /** Sets the seed of the sanitizer, instead of a random one per test. */
        public Builder seed(long seed) {
            this.seed = seed;
            return this;
        }

        /**
         * Sets the time after which resources count as left, since some are released by themselves
         * soon after the test; 10 seconds by default.
         */
        public Builder leakDeadline(Duration deadline) {
            this.leakDeadline = Objects.requireNonNull(deadline, "deadline");
            return this;
        }

        /**
         * Sets options of the JVMs that {@link SoftDpu#start} and {@link SoftDpu#startMain} start,
         * such as {@code -Xmx1g}; none by default.
         */
        public Builder childOptions(String... options) {
            this.childOptions = List.of(options);
            return this;
        }

        /** Creates the extension. */
        public SoftDpuExtension build() {
            Builder copy = new Builder();
            copy.topology = topology;
            copy.separateFolders = separateFolders;
            copy.sanitized = sanitized;
            copy.seed = seed;
            copy.leakDeadline = leakDeadline;
            copy.childOptions = childOptions;
            return new SoftDpuExtension(copy);
        }

        private CardSettings settings() {
            Topology card = separateFolders.isEmpty() ? topology : OwnAddresses.of(topology);
            return new CardSettings(
                    card.name(),
                    card.canonicalText(),
                    separateFolders,
                    sanitized,
                    sanitized ? chooseSeed() : 0,
                    leakDeadline,
                    childOptions);
        }

        private long chooseSeed() {
            String given = System.getenv(Sanitizer.ENVIRONMENT);
            if (given != null && !given.isBlank()) {
                // The sanitizer of the program has checked it.
                return Long.decode(given.strip());
            }
            return seed != null ? seed : ThreadLocalRandom.current().nextLong();
        }
    }
}
