package io.softdpu.api;

import io.softdpu.block.BlockDevice;
import io.softdpu.comch.ComchClient;
import io.softdpu.compute.Dma;
import io.softdpu.core.Status;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.rdma.Rdma;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Public API of the seven modules, from their descriptors and classes. */
final class Api {
    /** One class of each module, to find the module by. */
    private static final List<Class<?>> MODULES =
            List.of(
                    Status.class,
                    SyncEvent.class,
                    Graph.class,
                    ComchClient.class,
                    Rdma.class,
                    Dma.class,
                    BlockDevice.class);

    private Api() {}

    /** The public types of the packages that are exported to everybody, sorted by name. */
    static List<Class<?>> types() {
        List<Class<?>> types = new ArrayList<>();
        MODULES.forEach(one -> types.addAll(typesOfModule(one)));
        types.sort(Comparator.comparing(Class::getName));
        return types;
    }

    /**
     * What a user can call on a type: its public constructors, its static methods, and its instance
     * methods with those that it has inherited from other types of this project.
     */
    static List<Operation> operations(Class<?> type) {
        List<Operation> operations = new ArrayList<>();
        Stream.of(type.getConstructors()).forEach(c -> operations.add(new Operation(type, c)));
        for (Method method : type.getMethods()) {
            boolean ours = method.getDeclaringClass().getName().startsWith("io.softdpu.");
            boolean inheritedStatic =
                    Modifier.isStatic(method.getModifiers()) && method.getDeclaringClass() != type;
            if (ours && !inheritedStatic && !method.isBridge()) {
                operations.add(new Operation(type, method));
            }
        }
        operations.sort(
                Comparator.comparing(Operation::needsReceiver).thenComparing(Operation::signature));
        return operations;
    }

    /** The simple name, with that of the type around a nested one. */
    static String nameOf(Class<?> type) {
        return type.getEnclosingClass() == null
                ? type.getSimpleName()
                : type.getEnclosingClass().getSimpleName() + "." + type.getSimpleName();
    }

    private static List<Class<?>> typesOfModule(Class<?> one) {
        ModuleReference module = moduleOf(one);
        Set<String> exported =
                module.descriptor().exports().stream()
                        .filter(exports -> !exports.isQualified())
                        .map(ModuleDescriptor.Exports::source)
                        .collect(Collectors.toSet());
        try (ModuleReader reader = module.open();
                Stream<String> names = reader.list()) {
            List<Class<?>> types = new ArrayList<>();
            for (String name : names.filter(n -> n.endsWith(".class")).toList()) {
                String className = name.substring(0, name.length() - 6).replace('/', '.');
                int dot = className.lastIndexOf('.');
                if (dot < 0
                        || !exported.contains(className.substring(0, dot))
                        || className.endsWith("package-info")) {
                    continue;
                }
                Class<?> type = Class.forName(className, true, one.getClassLoader());
                if (isPublic(type)) {
                    types.add(type);
                }
            }
            return types;
        } catch (IOException | ClassNotFoundException e) {
            throw new AssertionError("cannot read the module of " + one, e);
        }
    }

    private static ModuleReference moduleOf(Class<?> one) {
        try {
            Path place = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
            return ModuleFinder.of(place).findAll().stream().findFirst().orElseThrow();
        } catch (URISyntaxException e) {
            throw new AssertionError("cannot find the module of " + one, e);
        }
    }

    private static boolean isPublic(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return Modifier.isPublic(type.getModifiers()) && (outer == null || isPublic(outer));
    }
}
