package io.softdpu.jcstress;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.InvokeInstruction;

/**
 * The product's rings, words of sync events, or keys of memory, with a fence taken out of their
 * bytecode, under a loader of their own. Everything else is the product's code, so that a failure
 * is due to the missing fence.
 */
final class Unfenced extends ClassLoader {
    private static final String RINGS = "io.softdpu.fabric.ring.";
    private static final String SYNC_EVENTS = "io.softdpu.core.sync.wire.";
    private static final String KEYS = "io.softdpu.core.spi.memory.";

    private final String user;
    private final String family;
    private final String fenced;
    private final String method;
    private int removed;

    private Unfenced(String user, String family, String fenced, String method) {
        super(Unfenced.class.getClassLoader());
        this.user = user;
        this.family = family;
        this.fenced = family + fenced;
        this.method = method;
    }

    /**
     * The same sleep and wake over rings that lack a fence.
     *
     * @param user is loaded anew, to meet those rings
     * @param method of RingLayout that loses its fence
     */
    static WakeUp.Maker maker(Class<? extends WakeUp.Maker> user, String method) {
        return maker(new Unfenced(user.getName(), RINGS, "RingLayout", method));
    }

    /**
     * The same over words of a sync event, of which one store is a release and no more.
     *
     * @param user is loaded anew, to meet those words
     * @param fenced the class whose method loses the fence behind its last volatile store
     */
    static WakeUp.Maker syncEvent(
            Class<? extends WakeUp.Maker> user, String fenced, String method) {
        return maker(new Unfenced(user.getName(), SYNC_EVENTS, fenced, method));
    }

    /**
     * The same over keys of memory and batches of packets, of which one store is a release and no
     * more.
     *
     * @param user of the same package, is loaded anew with it
     * @param fenced the class whose method loses the fence behind its last volatile store
     */
    static WakeUp.Maker keys(Class<? extends WakeUp.Maker> user, String fenced, String method) {
        return maker(new Unfenced(user.getName(), KEYS, fenced, method));
    }

    private static WakeUp.Maker maker(Unfenced loader) {
        try {
            Class<?> changed = Class.forName(loader.fenced, true, loader);
            if (loader.removed < 1 || changed.getClassLoader() != loader) {
                throw new IllegalStateException(
                        "no fence: method=" + loader.method + ", fences=" + loader.removed);
            }
            return (WakeUp.Maker)
                    Class.forName(loader.user, true, loader).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("words without a fence cannot be loaded", e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(family) && !name.equals(user)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            byte[] bytes = name.equals(fenced) ? withoutFence(bytes(name)) : bytes(name);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    private byte[] withoutFence(byte[] original) {
        CodeTransform drop =
                (code, element) -> {
                    if (element instanceof InvokeInstruction call
                            && call.owner().asInternalName().equals("java/lang/invoke/VarHandle")
                            && call.name().equalsString("fullFence")) {
                        removed++; // it takes nothing and leaves nothing on the stack
                    } else if (element instanceof InvokeInstruction store
                            && store.owner().asInternalName().equals("java/lang/invoke/VarHandle")
                            && store.name().equalsString("setVolatile")) {
                        removed++;
                        code.invokevirtual(
                                store.owner().asSymbol(), "setRelease", store.typeSymbol());
                    } else {
                        code.with(element);
                    }
                };
        ClassFile classFile = ClassFile.of();
        return classFile.transformClass(
                classFile.parse(original),
                ClassTransform.transformingMethodBodies(
                        candidate -> candidate.methodName().equalsString(method), drop));
    }

    private byte[] bytes(String name) throws UncheckedIOException {
        String resource = name.replace('.', '/') + ".class";
        try (InputStream in = getParent().getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("class file not found: name=" + name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
