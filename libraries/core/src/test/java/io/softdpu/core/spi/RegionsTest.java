package io.softdpu.core.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Patience;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** The order in which classes are loaded, in a class loader that has loaded none of them. */
class RegionsTest {
    private static final String REGIONS = "io.softdpu.core.spi.Regions";
    private static final String ACCESS = "io.softdpu.core.internal.access.MemoryAccess";
    private static final String MMAP = "io.softdpu.core.memory.Mmap";

    @Test
    void shouldBeThereBeforeAnMmapIsLoaded() throws Exception {
        try (URLClassLoader fresh = freshLoader()) {
            assertThat(regionsOf(fresh)).isNotNull();
        }
    }

    @Test
    void shouldBeTheOneThatTheMmapHasInstalled() throws Exception {
        try (URLClassLoader fresh = freshLoader()) {
            Class.forName(MMAP, true, fresh);

            assertThat(regionsOf(fresh)).isNotNull().isSameAs(installedIn(fresh));
        }
    }

    @RepeatedTest(20)
    void shouldLetTwoThreadsLoadBothAtOnce() throws Exception {
        CyclicBarrier start = new CyclicBarrier(2);
        try (URLClassLoader fresh = freshLoader();
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<?> mmap =
                    threads.submit(() -> {
                        start.await(Patience.SECONDS, TimeUnit.SECONDS);
                        return Class.forName(MMAP, true, fresh);
                    });
            Future<?> regions =
                    threads.submit(() -> {
                        start.await(Patience.SECONDS, TimeUnit.SECONDS);
                        return regionsOf(fresh);
                    });

            assertThat(mmap.get(Patience.SECONDS, TimeUnit.SECONDS)).isNotNull();
            assertThat(regions.get(Patience.SECONDS, TimeUnit.SECONDS)).isNotNull();
        }
    }

    private static Object regionsOf(ClassLoader loader) throws ReflectiveOperationException {
        return valueOf(Class.forName(REGIONS, true, loader), "ACCESS");
    }

    private static Object installedIn(ClassLoader loader) throws ReflectiveOperationException {
        return valueOf(Class.forName(ACCESS, true, loader), "installed");
    }

    private static Object valueOf(Class<?> type, String field) throws ReflectiveOperationException {
        Field found = type.getDeclaredField(field);
        found.setAccessible(true);
        return found.get(null);
    }

    /** Loads the product's classes anew; those of the JDK alone are shared. */
    private static URLClassLoader freshLoader() throws IOException {
        List<URL> classPath =
                Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                        .map(RegionsTest::url)
                        .toList();
        return new URLClassLoader(
                classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException("entry of the class path: " + entry, e);
        }
    }
}
