package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Soak;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Objects that were never started, which their program may have lost: a chain of calls that throws,
 * such as {@code Dma.create(device).setMemcpyTasks(0, ...)}, leaves one that nobody can close. It
 * keeps nothing open, and nothing references it. Every public class with a start, found by
 * reflection; one that {@link StartFixtures} does not know fails.
 */
final class NeverStartedTest {
    private static final int CHAINS = Soak.count(1_000, 10_000, 10_000);

    /** Objects that the last exceptions or a stack may still refer to. */
    private static final int UNCERTAIN = 8;

    @TempDir private Path folder;

    /** Test of one class with its fixtures. */
    private interface Body {
        void run(Class<?> type, FixtureScope scope, StartFixtures fixtures) throws Throwable;
    }

    @Test
    void shouldFindTheClassesThatHaveAStart() {
        assertThat(withStart().toList())
                .hasSizeGreaterThanOrEqualTo(15)
                .contains(Mmap.class)
                .filteredOn(Context.class::isAssignableFrom)
                .hasSizeGreaterThanOrEqualTo(9);
    }

    @TestFactory
    Stream<DynamicTest> shouldLetEverythingBeClosedAfterAChainThatThrows() {
        return forEach((type, scope, fixtures) -> {
            List<ThrowingCallable> chains = fixtures.chains(type);
            assertThat(chains).isNotEmpty();
            chains.forEach(NeverStartedTest::refuse);
        });
    }

    @TestFactory
    Stream<DynamicTest> shouldKeepNothingOfThousandsOfChains() {
        return forEach((type, scope, fixtures) -> {
            List<ThrowingCallable> chains = fixtures.chains(type);
            chains.forEach(NeverStartedTest::refuse); // loads what is loaded once
            LeakCheck leaks = LeakCheck.begin(folder);
            for (int i = 0; i < CHAINS; i++) {
                refuse(chains.get(i % chains.size()));
            }
            leaks.assertNothingLeft();
            Await.until(
                    "the objects are collected",
                    () -> {
                        System.gc();
                        return fixtures.alive() <= UNCERTAIN;
                    });
        });
    }

    @TestFactory
    Stream<DynamicTest> shouldNotStartWithoutWhatWasClosedUnderIt() {
        return forEach((type, scope, fixtures) -> {
            for (StartFixtures.Startable each : fixtures.startables(type)) {
                each.needed().close();
                for (int i = 0; i < 2; i++) {
                    assertThat(refuse(each.start()))
                            .hasMessageContainingAll(each.named())
                            .extracting(DpuException::status)
                            .isEqualTo(Status.BAD_STATE);
                }
            }
        });
    }

    /** A start that works keeps open what it needs, and the next one takes nothing. */
    @TestFactory
    Stream<DynamicTest> shouldKeepOpenWhatItNeedsFromItsStartOn() {
        return forEach((type, scope, fixtures) -> {
            for (StartFixtures.Startable each : fixtures.startables(type)) {
                each.start().call();
                for (int i = 0; i < 2; i++) {
                    assertThat(refuse(each.start()).status()).isEqualTo(Status.BAD_STATE);
                }
                assertThat(refuse(each.needed()::close).status())
                        .isIn(Status.IN_USE, Status.NOT_PERMITTED);
            }
        });
    }

    /**
     * As after a chain from the stop to the second start. A sync event has only one: its guests go
     * on after its stop.
     */
    @TestFactory
    Stream<DynamicTest> shouldNotStartAgainWithoutWhatWasClosedUnderIt() {
        return forEach((type, scope, fixtures) -> {
            for (StartFixtures.Startable each : fixtures.startables(type)) {
                each.start().call();
                stop(each.object(), scope);
                if (type != SyncEvent.class && type != SyncEventContext.class) {
                    each.needed().close();
                }
                for (int i = 0; i < 2; i++) {
                    assertThat(refuse(each.start()).status()).isEqualTo(Status.BAD_STATE);
                }
            }
        });
    }

    private static void stop(Object object, FixtureScope scope) throws Throwable {
        if (object instanceof Context context) {
            scope.stop(context);
        } else {
            object.getClass().getMethod("stop").invoke(object);
        }
    }

    /** Closing the scope and the card fails if anything keeps an object of them open. */
    private Stream<DynamicTest> forEach(Body body) {
        return withStart()
                .map(type ->
                        dynamicTest(
                                Api.nameOf(type),
                                () -> {
                                    try (Environment card = new Environment(folder);
                                            FixtureScope scope = new FixtureScope(card)) {
                                        body.run(type, scope, new StartFixtures(scope));
                                    }
                                }));
    }

    /** Classes, and interfaces that programs have objects of. */
    private static Stream<Class<?>> withStart() {
        Registry registry = new Registry();
        return Api.types().stream()
                .filter(type -> !registry.withoutFixture.containsKey(type))
                .filter(type -> Stream.of(type.getMethods()).anyMatch(NeverStartedTest::isStart));
    }

    private static boolean isStart(Method method) {
        return method.getName().equals("start")
                && method.getParameterCount() == 0
                && !Modifier.isStatic(method.getModifiers());
    }

    private static DpuException refuse(ThrowingCallable call) {
        try {
            call.call();
        } catch (DpuException e) {
            return e;
        } catch (Throwable e) {
            throw new AssertionError("not a status", e);
        }
        throw new AssertionError("was not refused");
    }
}
