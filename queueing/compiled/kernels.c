/* The table of kernels, and how Python calls them: arrays in C order are checked, and the lock is
   released. */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <string.h>

#include "kernels.h"

#define MOST_ARGUMENTS 32

/* Kinds of argument: r and w are arrays of numbers to read and to write, i and j the same of whole
   numbers; d is a number, n a whole number. */
static int read_array(PyObject *value, char kind, Py_buffer *view, Argument *argument)
{
    int written = kind == 'w' || kind == 'j', whole = kind == 'i' || kind == 'j';
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(value, view, flags) < 0)
        return -1;
    const char *format = view->format ? view->format : "B";
    int right = whole ? !strcmp(format, "l") || !strcmp(format, "q") : !strcmp(format, "d");
    if (!right || view->itemsize != 8) {
        PyErr_SetString(PyExc_TypeError, whole ? "an array of int64 is needed"
                                               : "an array of float64 is needed");
        PyBuffer_Release(view);
        return -1;
    }
    if (whole) {
        argument->counts.at = view->buf;
        argument->counts.size = view->len / 8;
    } else {
        argument->numbers.at = view->buf;
        argument->numbers.size = view->len / 8;
    }
    return 0;
}

static PyObject *call(Kernel *kernel, const char *kinds, PyObject *const *values, Py_ssize_t count)
{
    Argument arguments[MOST_ARGUMENTS];
    Py_buffer views[MOST_ARGUMENTS];
    int held = 0;
    const char *wrong = NULL;
    if (count != (Py_ssize_t)strlen(kinds)) {
        PyErr_Format(PyExc_TypeError, "%zd arguments are needed, not %zd",
                     (Py_ssize_t)strlen(kinds), count);
        return NULL;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        if (kinds[k] == 'd')
            arguments[k].number = PyFloat_AsDouble(values[k]);
        else if (kinds[k] == 'n')
            arguments[k].count = PyLong_AsLongLong(values[k]);
        else if (read_array(values[k], kinds[k], &views[held], &arguments[k]) == 0)
            held++;
        if (PyErr_Occurred())
            break;
    }
    if (!PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS
        wrong = kernel(arguments);
        Py_END_ALLOW_THREADS
    }
    while (held > 0)
        PyBuffer_Release(&views[--held]);
    if (wrong)
        PyErr_SetString(PyExc_ValueError, wrong);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* name, and kinds of its arguments */
#define KERNELS(ROW) \
    ROW(inverse_polynomial, "nrw") \
    ROW(one_class_recursion, "rrrnniiwww") \
    ROW(lattice_planes, "rrriinnwwj") \
    ROW(steady_steps, "rrrrrrrnwwwwwww") \
    ROW(closed_convolution, "rrrrriiriwwwwww") \
    ROW(passing_rounds, "iirrrdnwj") \
    ROW(play, "iiiiiirrriiirjjjjjjjjjjjjdn") \
    ROW(play_program, "iiiiijjjjjjjjdn") \
    ROW(explore_program, "iiiiirrijjjjjjwwjjjn") \
    ROW(balancing_sweeps, "iirrwn") \
    ROW(complex_geometric, "rw") \
    ROW(real_geometric, "rw") \
    ROW(absorbing_steps, "iirrwwwdnj") \
    ROW(careful_step, "jwrrrdrnnnndwww") \
    ROW(finite_stations, "iiiiirrrwwwwww") \
    ROW(pool_ratios, "iiiirrrrrww") \
    ROW(pool_capacities, "iiiiirrrrwww") \
    ROW(first_to_leave, "iiirrrrww") \
    ROW(waits_of_one, "iirrrrw") \
    ROW(weighted_sums, "iirrnw") \
    ROW(unanswered_steps, "rrrrdnrwwwwww") \
    ROW(flood_steps, "rriwwwj") \
    ROW(lives, "ijriwwjw") \
    ROW(spans_laid_out, "inj")

#define CALLED(name, kinds) \
    static PyObject *called_##name(PyObject *module, PyObject *const *values, Py_ssize_t count) \
    { \
        (void)module; \
        return call(name, kinds, values, count); \
    }
KERNELS(CALLED)

#define ENTRY(name, kinds) {#name, (PyCFunction)(void (*)(void))called_##name, METH_FASTCALL, NULL},
static PyMethodDef methods[] = {KERNELS(ENTRY){NULL, NULL, 0, NULL}};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_kernels",
    .m_doc = "Laws in C; headway.queueing.compiled.library says which function each stands for.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kernels(void)
{
    return PyModuleDef_Init(&definition);
}
